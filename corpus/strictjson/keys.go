package strictjson

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// checkKeys returns an error if an object in JSON, which v was read from, has a key twice, or
// has one that differs from the name of a field by upper and lower case only. encoding/json
// takes the last one, or a mixture: people and other programs may read something else.
// The JSON must be valid.
func checkKeys(text []byte, v any) error {
	s := &keyScanner{text: text}
	if e := s.value(reflect.TypeOf(v)); e != nil {
		return atLine(text, int64(e.offset), fmt.Sprintf("%q %s", e.path, e.what))
	}
	return nil
}

// keyScanner walks through valid JSON.
type keyScanner struct {
	text  []byte
	at    int
	until int // offset where the walk ends; 0: it goes on to the end, and checks keys
}

// pathAt returns the path to the value that encoding/json had begun to read, if it is an
// array or an object, or else had read, up to an offset. It returns "" if there is none.
func pathAt(text []byte, offset int64) string {
	if offset <= 0 || !json.Valid(text) {
		return ""
	}
	s := &keyScanner{text: text, until: int(offset)}
	if e := s.value(nil); e != nil {
		return e.path
	}
	return ""
}

// keyError is what is wrong with a key.
type keyError struct {
	offset int
	path   string
	what   string
}

// within returns the error with what the key is in put before it.
func (e *keyError) within(outer string) *keyError {
	e.path = joinPath(outer, e.path)
	return e
}

// joinPath joins the names in the path to a value; those of elements of arrays begin with #.
func joinPath(outer, inner string) string {
	switch {
	case outer == "" || inner == "":
		return outer + inner
	case inner[0] == '#':
		return outer + " " + inner
	}
	return outer + "." + inner
}

// value walks through a value that is read into a type; nil: into any.
func (s *keyScanner) value(t reflect.Type) *keyError {
	first := s.next()
	if s.at+1 == s.until {
		return &keyError{}
	}
	switch first {
	case '{':
		return s.object(t)
	case '[':
		return s.array(t)
	case '"':
		s.string()
	default:
		for s.at < len(s.text) && strings.IndexByte(",]} \t\r\n", s.text[s.at]) < 0 {
			s.at++
		}
	}
	if s.until > 0 && s.at >= s.until {
		return &keyError{}
	}
	return nil
}

// next skips blanks and returns the character after them.
func (s *keyScanner) next() byte {
	for strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
	return s.text[s.at]
}

// string skips a string and returns what is between its quotes.
func (s *keyScanner) string() []byte {
	from := s.at + 1
	for s.at = from; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.text[from : s.at-1]
}

func (s *keyScanner) array(t reflect.Type) *keyError {
	elem := elemOf(t)
	s.at++
	for n := 1; s.next() != ']'; n++ {
		if e := s.value(elem); e != nil {
			return e.within(fmt.Sprintf("#%d", n))
		}
		s.comma()
	}
	s.at++
	return nil
}

// comma skips a comma, if one is next.
func (s *keyScanner) comma() {
	if s.next() == ',' {
		s.at++
	}
}

func (s *keyScanner) object(t reflect.Type) *keyError {
	fields, elem := jsonFields(t), elemOf(t)
	seen := seenKeys{}
	s.at++
	for s.next() != '}' {
		offset := s.at
		key := unquoted(s.string())
		f, known := fields[string(key)]
		if what := seen.add(key, f, known, fields); what != "" && s.until == 0 {
			return &keyError{offset, string(key), what}
		}
		s.next() // the colon
		s.at++
		kind := elem
		if known {
			kind = f.kind
		}
		if e := s.value(kind); e != nil {
			return e.within(string(key))
		}
		s.comma()
	}
	s.at++
	return nil
}

// unquoted returns the bytes of a key. Bytes that are no UTF-8 become what encoding/json
// makes of them.
func unquoted(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw
	}
	var key string
	if err := json.Unmarshal([]byte(`"`+string(raw)+`"`), &key); err != nil {
		panic("strictjson: " + err.Error()) // the JSON is valid
	}
	return []byte(key)
}

// seenKeys are the keys of an object so far.
type seenKeys struct {
	fields uint64 // numbers of those that are fields with a number below 64
	others map[string]bool
}

// add adds a key, and returns what is wrong with it.
func (s *seenKeys) add(key []byte, f jsonField, known bool, fields map[string]jsonField) string {
	const twice = "is there twice"
	if known && f.number < 64 {
		if s.fields>>f.number&1 != 0 {
			return twice
		}
		s.fields |= 1 << f.number
		return ""
	}
	if s.others[string(key)] {
		return twice
	}
	if s.others == nil {
		s.others = map[string]bool{}
	}
	s.others[string(key)] = true
	if !known {
		for name := range fields {
			if strings.EqualFold(name, string(key)) {
				return fmt.Sprintf("is written %q", name)
			}
		}
	}
	return ""
}

// jsonField is a field of a structure.
type jsonField struct {
	number int
	kind   reflect.Type
}

// jsonFieldMaps are the fields of types, by reflect.Type.
var jsonFieldMaps sync.Map

// jsonFields returns the fields of a structure by the names that they have in JSON, nil for
// other types.
func jsonFields(t reflect.Type) map[string]jsonField {
	if t = filledIn(t); t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	if m, ok := jsonFieldMaps.Load(t); ok {
		return m.(map[string]jsonField)
	}
	m := map[string]jsonField{}
	addJSONFields(m, t)
	jsonFieldMaps.Store(t, m)
	return m
}

func addJSONFields(m map[string]jsonField, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch inner := filledIn(f.Type); {
		case tag == "-":
		case f.Anonymous && name == "" && inner != nil && inner.Kind() == reflect.Struct:
			addJSONFields(m, inner)
		case f.IsExported():
			m[cmp.Or(name, f.Name)] = jsonField{len(m), f.Type}
		}
	}
}

// elemOf returns the type of what an array or a map holds, nil for other types.
func elemOf(t reflect.Type) reflect.Type {
	if t = filledIn(t); t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return t.Elem()
	}
	return nil
}

// filledIn returns the type that encoding/json fills in, nil if that depends on the value or
// if the type reads JSON itself.
func filledIn(t reflect.Type) reflect.Type {
	for t != nil {
		if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
			return nil
		}
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	return nil
}
