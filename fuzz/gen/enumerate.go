package gen

// digits is a number in a mixed radix.
type digits uint64

// digit takes the lowest digit, in 0..n-1, off the number.
func (x *digits) digit(n int) int {
	low := *x % digits(n)
	*x /= digits(n)
	return int(low)
}

// scattered returns the number of an index in an enumeration of size cases. Neighbouring
// indexes should differ in everything, so that the first few thousand already cover the
// table: it steps through it by a large odd number that has no divisor in common with size.
func scattered(index, size uint64) digits {
	step := size/5*3 | 1
	for gcd(step, size) != 1 {
		step += 2
	}
	return digits(index % size * step % size)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
