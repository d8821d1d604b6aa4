package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mostAlike is how many changes are told beside one that give the same bits, those that differ in
// one value alone counting as one.
const mostAlike = 3

// Change is the change in words, with those that give the same bits: "or" is between values and between
// changes that the products do not tell apart. All products have k products an element.
func (a *Answer) Change(k int) string {
	var all []string
	for left := append([]string{a.Words}, a.Alike...); len(left) > 0; {
		var text string
		text, left = fold(left)
		all = append(all, numbered(text, k))
	}
	if more := len(all) - mostAlike; more > 1 {
		all = append(all[:mostAlike], fmt.Sprintf("one of %d further changes", more))
	}
	return strings.Join(all, "; or ")
}

// fold writes the first of some changes and those that differ from it in one and the same word as one, and
// returns the others.
func fold(all []string) (text string, others []string) {
	first, at := strings.Fields(all[0]), -1
	var values []string
	for _, other := range all[1:] {
		i := only(first, strings.Fields(other))
		if i < 0 || at >= 0 && i != at {
			others = append(others, other)
			continue
		}
		at = i
		values = append(values, strings.TrimRight(strings.Fields(other)[i], ",;)"))
	}
	if at < 0 {
		return all[0], others
	}
	word := strings.TrimRight(first[at], ",;)")
	values = append([]string{word}, values...)
	last := len(values) - 1
	first[at] = strings.Join(values[:last], ", ") + " or " + values[last] + strings.TrimPrefix(first[at], word)
	return strings.Join(first, " "), others
}

// only returns the index of the only word in which two texts differ; negative if there is none.
func only(x, y []string) int {
	if len(x) != len(y) {
		return -1
	}
	at := -1
	for i := range x {
		if x[i] != y[i] {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// divisors are those of K in what is left over.
var divisors = regexp.MustCompile(regexp.QuoteMeta(ofK) + `([^)]*)\)`)

// numbered says how many products are left over of k, where all divisors leave as many.
func numbered(text string, k int) string {
	return divisors.ReplaceAllStringFunc(text, func(of string) string {
		var left []int
		for _, word := range strings.FieldsFunc(divisors.FindStringSubmatch(of)[1], func(r rune) bool { return r < '0' || '9' < r }) {
			n, err := strconv.Atoi(word)
			if err != nil || n == 0 {
				return of
			}
			left = append(left, k%n)
		}
		if left = slices.Compact(left); len(left) != 1 || left[0] < 2 {
			return of
		}
		return strings.Replace(of, "the last", fmt.Sprintf("the last %d", left[0]), 1)
	})
}
