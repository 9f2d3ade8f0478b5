/** Threads that fill arrays and keep them: Fill THREADS MIB SECONDS STATUS */
public class Fill {
    public static void main(String[] words) throws InterruptedException {
        int count = Integer.parseInt(words[0]);
        byte[][] held = new byte[count][];
        Thread[] threads = new Thread[count];
        for (int number = 0; number < count; number++) {
            int own = number;
            threads[own] = new Thread(() -> {
                held[own] = new byte[(Integer.parseInt(words[1]) << 20) / count];
                java.util.Arrays.fill(held[own], (byte) 1);
            });
            threads[own].start();
        }
        for (Thread thread : threads) thread.join();
        Thread.sleep(1000L * Integer.parseInt(words[2]));
        long filled = 0;
        for (byte[] part : held) filled += part.length;
        System.out.println(filled);
        System.exit(Integer.parseInt(words[3]));
    }
}
