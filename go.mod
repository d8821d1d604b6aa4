module github.com/mmafuzz/mmafuzz

go 1.26
