// Package readable writes numbers, lists, tables and commands as people read them in a
// terminal. Text that comes from elsewhere goes through package printable as well.
//
// The API of this package is not promised: it may change in any version.
package readable

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Thousands writes a number with commas.
func Thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number: below 10,000 as it is, then three digits with k, M, G, T, P or E.
func Count(n uint64) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	x, unit := float64(n)/1e3, 0
	for ; x >= 999.5; x /= 1e3 { // three digits of it would be 1000
		unit++
	}
	return fmt.Sprintf("%.3g%c", x, "kMGTPE"[unit])
}

// Share writes n as a percentage of the whole; 0% if the whole is 0.
func Share(n, whole uint64) string {
	if whole == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.3g%%", 100*float64(n)/float64(whole))
}

// Plural writes a number of things whose plural ends in s.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Dots writes a number of dot products.
func Dots(n uint64) string {
	if n == 1 {
		return "1 dot product"
	}
	return Thousands(n) + " dot products"
}

// Mismatches writes a number of mismatches.
func Mismatches(n uint64) string {
	if n == 1 {
		return "1 mismatch"
	}
	return Thousands(n) + " mismatches"
}

// Ulps writes a distance, counted in representable numbers; a large one as the nearest power of two.
func Ulps(n float64) string {
	if n < 10_000 {
		return fmt.Sprintf("%.0f", n)
	}
	about := "~"
	if fraction, _ := math.Frexp(n); fraction == 0.5 {
		about = ""
	}
	return fmt.Sprintf("%s2^%.0f", about, math.Log2(n))
}

// Clock writes a time as h:mm:ss or m:ss.
func Clock(t time.Duration) string {
	s := int(t.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Rate returns n per second, 0 if no time has passed.
func Rate(n uint64, t time.Duration) uint64 {
	if t <= 0 {
		return 0
	}
	return uint64(float64(n) / t.Seconds())
}

// Ordinal writes the number of a place: 1st, 22nd, 64th.
func Ordinal(n int) string {
	end := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, end)
}

// Numbers writes ascending numbers: "rows 0, 2 and 5", "rows 8 to 15", "column 7".
func Numbers(noun string, ns []int) string {
	switch last := len(ns) - 1; {
	case last == 0:
		return fmt.Sprint(noun, " ", ns[0])
	case ns[last]-ns[0] == last:
		return fmt.Sprintf("%ss %d to %d", noun, ns[0], ns[last])
	default:
		words := strings.Fields(fmt.Sprint(ns[:last]))
		return fmt.Sprintf("%ss %s and %d", noun, strings.Trim(strings.Join(words, ", "), "[]"), ns[last])
	}
}
