// Goroutines that fill one slice and keep it: fill GOROUTINES MIB SECONDS STATUS
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	var numbers [4]int
	for at := range numbers {
		number, err := strconv.Atoi(os.Args[at+1])
		if err != nil {
			panic(err)
		}
		numbers[at] = number
	}
	count, mib, seconds, status := numbers[0], numbers[1], numbers[2], numbers[3]
	held := make([]byte, mib<<20)
	var all sync.WaitGroup
	for part := 0; part < count; part++ {
		all.Add(1)
		go func(own []byte) {
			defer all.Done()
			for at := range own {
				own[at] = 1
			}
		}(held[part*len(held)/count : (part+1)*len(held)/count])
	}
	all.Wait()
	time.Sleep(time.Duration(seconds) * time.Second)
	fmt.Println(len(held), held[0])
	os.Exit(status)
}
