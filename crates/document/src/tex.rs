//! A document for a paper: LaTeX that pdflatex (TeX Live's base, recommended and pictures
//! collections) compiles in one run, without running anything else.

mod copies_chart;
mod curves_chart;
mod escape;
mod scaling_chart;
mod table;

use std::io::{self, Write};

use crate::document::{Document, Section};
use crate::subject::devices::SIZES;
use crate::subject::latency::CURVES;
use escape::{code_line, text};

/// A page of A4 with room for wide tables; what a table needs, and no package that draws
/// letters as pictures.
const PREAMBLE: &str = r"\documentclass[10pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=18mm,headsep=5mm]{geometry}
\usepackage{array,longtable,booktabs}
\usepackage[table]{xcolor}
\usepackage{pgfplots}
\usepgfplotslibrary{fillbetween}
\pgfplotsset{compat=1.16}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 1pt}
\setlength{\tabcolsep}{4pt}
\setlength{\LTpre}{2pt}
\setlength{\LTpost}{6pt}
\setlength{\emergencystretch}{3em}
\sloppy
% Columns of a width that was computed from their words.
\newcolumntype{L}[1]{>{\raggedright\arraybackslash\hspace{0pt}}p{#1}}
\newcolumntype{R}[1]{>{\raggedleft\arraybackslash\hspace{0pt}}p{#1}}
% The bullet of a font that is drawn and not a picture.
\renewcommand{\labelitemi}{$\bullet$}
\newcommand{\between}[1]{{\tiny\color{black!80}#1}}
% A caption with a table of so many points, which begins a page rather than be torn from it.
\newcommand{\tablehead}[2]{\par\penalty0\begingroup\dimen0=\pagegoal
  \advance\dimen0 by -\pagetotal\ifdim\dimen0<#1\vfil\penalty-10000\fi\endgroup
  \vspace{4pt}{\bfseries\small #2}\par\nopagebreak}
";

/// Writes a document as LaTeX. Foreign text is escaped: what a record holds cannot become a
/// command, and letters that the fonts lack are named by their numbers.
///
/// # Errors
/// What writing fails with.
pub fn write_tex(document: &Document, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "% {} made this file; the record holds every sample.", document.program)?;
    out.write_all(PREAMBLE.as_bytes())?;
    writeln!(out, "\\pagestyle{{myheadings}}\n\\markright{{{}}}", head(document))?;
    writeln!(out, "\\begin{{document}}\n{{\\LARGE\\bfseries {}\\par}}", text(&document.title))?;
    for caution in &document.cautions {
        writeln!(
            out,
            "\\fcolorbox{{black}}{{yellow!30}}{{\\parbox{{\\dimexpr\\linewidth-2\\fboxsep\
             -2\\fboxrule}}{{\\bfseries {}}}}}\n",
            text(caution)
        )?;
    }
    write_list(&document.first_words(), out)?;
    write_list(&document.summary, out)?;
    writeln!(
        out,
        "Small numbers below a figure are its interval. Tables of figures of one unit are maps: the \
         darker a cell, the higher its figure.\n"
    )?;
    document.matrices.iter().try_for_each(|matrix| table::write_table(matrix, out))?;
    for section in &document.sections {
        write_section(section, out)?;
    }
    write_paper_tables(document, out)?;
    write_models(document, out)?;
    writeln!(out, "\\medskip Made by {}.\n\\end{{document}}", text(document.program))
}

/// What stands on every page, a caution first: a page may be read alone.
fn head(document: &Document) -> String {
    let words: Vec<&str> = document.cautions.iter().filter_map(|c| c.split(':').next()).collect();
    let cautions: Vec<String> = words
        .iter()
        .filter(|word| word.len() < 20)
        .map(|word| format!("{} ", text(word)))
        .collect();
    let title: String = document.title.chars().take(60).collect();
    format!("{}{}", cautions.concat(), text(&title))
}

fn write_section(section: &Section, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\\section*{{{}}}\n{}\n", text(section.title), text(&section.about))?;
    write_list(&section.findings, out)?;
    for table in &section.tables {
        if section.id == "scaling" {
            scaling_chart::write_chart(table, out)?;
        }
        if section.id == "devices" && table.columns.first().is_some_and(|it| it.name == SIZES) {
            copies_chart::write_chart(table, out)?;
        }
        if section.id == "latency" && table.columns.first().is_some_and(|it| it.name == CURVES) {
            curves_chart::write_chart(table, out)?;
        }
        table::write_table(table, out)?;
    }
    Ok(())
}

fn write_paper_tables(document: &Document, out: &mut impl Write) -> io::Result<()> {
    if document.paper_tables.is_empty() {
        return Ok(());
    }
    let has_devices = document.sections.iter().any(|section| section.id == "devices");
    writeln!(
        out,
        "\\section*{{Classes in the form of the thesis}}\n\
         As tables 5.2 to 5.5 of Braithwaite, NUMA Data-Access Bandwidth Characterization and \
         Modeling, Virginia Tech 2012{}.\n",
        if has_devices {
            ""
        } else {
            "; 5.4 and 5.5 are of copies to devices, which this record does not hold"
        }
    )?;
    document.paper_tables.iter().try_for_each(|table| table::write_table(table, out))
}

fn write_models(document: &Document, out: &mut impl Write) -> io::Result<()> {
    let with_text =
        || document.sections.iter().filter_map(|s| Some((s.title, s.model_text.as_deref()?)));
    if with_text().next().is_none() {
        return Ok(());
    }
    writeln!(out, "\\section*{{The models in full}}")?;
    for (title, model_text) in with_text() {
        writeln!(out, "\\subsection*{{{}}}", text(title))?;
        let widest = model_text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        // Letters of a line at 8, 7 and 5 points.
        let size = match widest {
            0..=104 => "footnotesize",
            105..=118 => "scriptsize",
            _ => "tiny",
        };
        writeln!(out, "{{\\{size}\\ttfamily\\raggedright\\setlength{{\\parskip}}{{0pt}}")?;
        for line in model_text.lines() {
            writeln!(out, "\\mbox{{}}{}\\par", code_line(line))?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn write_list(sentences: &[String], out: &mut impl Write) -> io::Result<()> {
    if sentences.is_empty() {
        return Ok(());
    }
    writeln!(out, "\\begin{{itemize}}\\setlength{{\\itemsep}}{{0pt}}")?;
    for sentence in sentences {
        writeln!(out, "\\item{{}} {}", text(sentence))?;
    }
    writeln!(out, "\\end{{itemize}}")
}
