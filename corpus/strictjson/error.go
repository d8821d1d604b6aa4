package strictjson

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Error turns an error of encoding/json about text into words that say what is wrong
// and, if the text has several lines, in which line. It returns other errors, and nil, as
// they are.
func Error(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("it is empty")
	case byteOrderMark(text) != "":
		return fmt.Errorf("it begins with a byte order mark of %s, which some editors write: save it as UTF-8 without one", byteOrderMark(text))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return atLine(text, int64(len(text)), jsonCut)
	case errors.As(err, &syntax):
		return atByte(text, syntax.Offset, syntaxInWords(syntax.Error()))
	case errors.As(err, &kind):
		return atLine(text, kind.Offset, kindInWords(kind, pathAt(text, kind.Offset)))
	}
	if what, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %s", what)
	}
	return err
}

// byteOrderMark returns the encoding whose byte order mark a text begins with, "" if there is
// none. JSON has none.
func byteOrderMark(text []byte) string {
	for _, m := range []struct{ mark, encoding string }{{"\xef\xbb\xbf", "UTF-8"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"}} {
		if bytes.HasPrefix(text, []byte(m.mark)) {
			return m.encoding
		}
	}
	return ""
}

func atLine(text []byte, offset int64, what string) error {
	if offset < 0 || offset > int64(len(text)) || !bytes.Contains(bytes.TrimSpace(text), []byte("\n")) {
		return errors.New(what)
	}
	return fmt.Errorf("line %d: %s", 1+bytes.Count(text[:offset], []byte("\n")), what)
}

// longLine is the length from which a place in a single line is given in bytes.
const longLine = 1000

// atByte is atLine for what names no field: of a long line it says where in it.
func atByte(text []byte, offset int64, what string) error {
	if len(text) >= longLine && !bytes.Contains(bytes.TrimSpace(text), []byte("\n")) {
		return fmt.Errorf("byte %d: %s", offset, what)
	}
	return atLine(text, offset, what)
}

const jsonCut = "the JSON is cut short"

// jsonPlaces are the ends of encoding/json's errors about a character, and what they
// mean.
var jsonPlaces = []struct{ end, meaning string }{
	{" looking for beginning of value", "is no JSON: a value should begin there"},
	{" looking for beginning of object key string", "is no JSON: the name of a field in quotes should begin there"},
	{" after object key", "is no JSON: a colon should be there"},
	{" after object key:value pair", "is no JSON: a comma or } should be there"},
	{" after array element", "is no JSON: a comma or ] should be there"},
	{" after top-level value", "stands behind the end of the JSON"},
	{" in string literal", "cannot be in a JSON string"},
	{" exceeded max depth", "is nested too deeply"},
}

func syntaxInWords(what string) string {
	if strings.HasPrefix(what, "unexpected end") {
		return jsonCut
	}
	rest, ok := strings.CutPrefix(what, "invalid character ")
	if !ok {
		return what
	}
	for _, p := range jsonPlaces {
		if char, ok := strings.CutSuffix(rest, p.end); ok {
			return char + " " + p.meaning
		}
	}
	return "invalid JSON: " + rest
}

// kindInWords describes which value is of a wrong kind. path is that of the value, "" if it
// is not known or has no names.
func kindInWords(e *json.UnmarshalTypeError, path string) string {
	what := fmt.Sprintf("%q", cmp.Or(path, e.Field))
	if path == "" && e.Field == "" {
		what = "it"
	}
	if n, ok := strings.CutPrefix(e.Value, "number "); ok {
		return fmt.Sprintf("%s is %s, not %s in range", what, n, kindOf(e.Type))
	}
	article := "a "
	if strings.ContainsAny(e.Value[:min(1, len(e.Value))], "ao") { // array, object
		article = "an "
	}
	return fmt.Sprintf("%s is %s%s, not %s", what, article, e.Value, kindOf(e.Type))
}

// kindOf is what JSON calls the values of a type.
func kindOf(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return kindOf(t.Elem())
	}
	return "a whole number"
}
