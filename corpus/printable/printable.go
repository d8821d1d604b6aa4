// Package printable makes text from elsewhere - files of strangers, child processes,
// devices - fit for a terminal, a log and a generated file. What cannot be seen is
// shown as Go writes it in a string: an escape sequence as \x1b[31m, a character that
// turns the direction of writing as \u202e, a byte that is not UTF-8 as \xff.
//
// The API of this package is not promised: it may change in any version.
package printable

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Line returns text without control characters, line ends among them.
func Line(s string) string { return escape(s, "") }

// Text returns text in which line ends and tabs are the only control characters.
func Text(s string) string { return escape(s, "\n\t") }

// escape shows what is not printable and not among the runes to keep.
func escape(s, keep string) string {
	good := 0 // bytes that need no change
	for good < len(s) {
		r, size := utf8.DecodeRuneInString(s[good:])
		if !fine(r, size, keep) {
			break
		}
		good += size
	}
	if good == len(s) {
		return s
	}
	b := []byte(s[:good])
	for rest := s[good:]; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if fine(r, size, keep) {
			b = append(b, rest[:size]...)
		} else {
			quoted := strconv.Quote(rest[:size])
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		rest = rest[size:]
	}
	return string(b)
}

// fine reports whether a rune, of the given number of bytes, stays as it is.
func fine(r rune, size int, keep string) bool {
	if r == utf8.RuneError && size == 1 {
		return false // not UTF-8
	}
	return strconv.IsPrint(r) || strings.ContainsRune(keep, r)
}

// Strings makes a Line of every string in what v points to, also within structures, lists
// and maps. It leaves a key of a map alone if two keys would become one.
func Strings(v any) { walk(reflect.ValueOf(v)) }

func walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			e := reflect.New(v.Elem().Type()).Elem()
			e.Set(v.Elem())
			walk(e)
			v.Set(e)
		}
	case reflect.String:
		if s := v.String(); v.CanSet() && Line(s) != s {
			v.SetString(Line(s))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.Map:
		walkMap(v)
	}
}

// walkMap replaces the entries of a map, which cannot be changed in place.
func walkMap(m reflect.Value) {
	for _, key := range m.MapKeys() {
		k, e := reflect.New(key.Type()).Elem(), reflect.New(m.Type().Elem()).Elem()
		k.Set(key)
		e.Set(m.MapIndex(key))
		walk(k)
		walk(e)
		if !k.Equal(key) && !m.MapIndex(k).IsValid() {
			m.SetMapIndex(key, reflect.Value{})
			key = k
		}
		m.SetMapIndex(key, e)
	}
}
