//! The text forms of mixes and arithmetic.

use nearfar_kernels::{FlopOperation, Flops, InvalidMix, Mix, Precision, find};

#[test]
fn every_mix_is_read_back_from_its_own_text() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..2000 {
        let (loads, stores) = (random.u32(..=64), random.u32(..=64));
        if let Ok(mix) = Mix::new(loads, stores, random.bool()) {
            assert_eq!(mix.to_string().parse(), Ok(mix));
            assert_eq!(mix.loads() * stores, mix.stores() * loads);
        }
    }
    for text in
        ["1l", "1s", "1nt", "2l1s", "2l1nt", "1l_1add", "4l_1fma", "2l1nt_4fma", "3l5s_3add"]
    {
        assert_eq!(text.parse::<Mix>().unwrap().to_string(), text);
    }
}

#[test]
fn equal_mixes_have_one_form() {
    let mix: Mix = "4l2nt".parse().unwrap();
    assert_eq!(mix, Mix::new(2, 1, true).unwrap());
    assert_eq!(mix.to_string(), "2l1nt");
    // With arithmetic that cannot be halved it is another.
    assert_eq!("4l2nt_1fma".parse::<Mix>().unwrap().to_string(), "4l2nt_1fma");
}

#[test]
fn other_texts_are_refused_with_what_would_do() {
    let texts = [
        "",
        "l",
        "s",
        "nt",
        "0l",
        "2",
        "2l1",
        "2l1x",
        "1s2l",
        "02l",
        "+2l",
        "2l-1s",
        "2L",
        "2l 1s",
        "2l1snt",
        "2l1nts",
        "2l1s_",
        "2l1s_fma",
        "2l1s_0fma",
        "2l1s_4mul",
        "2l1s_4fma_1add",
        "4294967296l",
        "1l\u{1b}[2J",
        "triad",
    ];
    for text in texts {
        let refusal = text.parse::<Mix>().unwrap_err();
        assert_eq!(refusal, InvalidMix::NotUnderstood(text.to_owned()), "{text:?}");
        let message = refusal.to_string();
        assert!(message.contains("2l1s_4fma"), "{message}");
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

#[test]
fn refusals_quote_a_long_text_only_in_part() {
    let long = "x".repeat(100_000);
    for refusal in [
        long.parse::<Mix>().unwrap_err().to_string(),
        long.parse::<Flops>().unwrap_err().to_string(),
    ] {
        assert!(refusal.starts_with(&format!("\"{}\"... is no", "x".repeat(60))), "{refusal}");
        assert!(refusal.len() < 300, "{refusal}");
    }
}

#[test]
fn numbers_that_make_no_loop_are_refused_one_by_one() {
    for (text, refusal) in [
        ("65l", None),
        ("65l64s", Some(InvalidMix::TooManyAccesses)),
        ("64l65nt", Some(InvalidMix::TooManyAccesses)),
        ("1l_513fma", Some(InvalidMix::TooManyOperations)),
        ("1s_1fma", Some(InvalidMix::NothingToCompute)),
        ("3l_2fma", Some(InvalidMix::UnevenArithmetic)),
        ("2l1s_3add", Some(InvalidMix::UnevenArithmetic)),
    ] {
        // 65l is 1l.
        assert_eq!(text.parse::<Mix>().err(), refusal, "{text}");
    }
    assert_eq!(Mix::new(0, 0, false), Err(InvalidMix::NoAccess));
    assert_eq!(Mix::new(1, 0, true), Err(InvalidMix::NothingToStore));
}

#[test]
fn all_arithmetic_is_read_back_and_nothing_else() {
    for operation in FlopOperation::ALL {
        for precision in Precision::ALL {
            let flops = Flops { operation, precision };
            assert_eq!(flops.to_string().parse(), Ok(flops));
            // One namespace: neither a kernel of the catalog nor a mix has such a name.
            assert!(
                find(&flops.to_string()).is_none() && flops.to_string().parse::<Mix>().is_err()
            );
        }
    }
    for text in ["", "fma", "dp", "FMA_dp", "fma_dp ", "fma-dp", "div_dp", "add\u{7}_sp"] {
        let refusal = text.parse::<Flops>().unwrap_err().to_string();
        assert!(refusal.contains("_dp") && !refusal.chars().any(char::is_control), "{refusal:?}");
    }
}

#[test]
fn the_catalog_has_no_kernel_that_reads_as_a_mix() {
    for kernel in &nearfar_kernels::CATALOG {
        assert!(kernel.name.parse::<Mix>().is_err(), "{}", kernel.name);
    }
}
