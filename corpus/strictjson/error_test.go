package strictjson_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestError(t *testing.T) {
	type inner struct {
		K uint8 `json:"k"`
	}
	type file struct {
		Name string   `json:"name"`
		On   bool     `json:"on"`
		X    float64  `json:"x"`
		List []string `json:"list"`
		In   *inner   `json:"in"`
		A    fp.ID    `json:"a"`
	}
	for text, want := range map[string]string{
		"":                    "it is empty",
		"\xef\xbb\xbf{}":      "it begins with a byte order mark of UTF-8, which some editors write: save it as UTF-8 without one",
		"\xff\xfe{\x00}\x00":  "it begins with a byte order mark of UTF-16, which some editors write: save it as UTF-8 without one",
		" \n":                 "it is empty",
		"{\"name\": \"a\"":    "the JSON is cut short",
		"{\n\"name\": x}":     "line 2: 'x' is no JSON: a value should begin there",
		"{\n\n3: 4}":          "line 3: '3' is no JSON: the name of a field in quotes should begin there",
		`{"name" 3}`:          "'3' is no JSON: a colon should be there",
		`{"x": 3 4}`:          "'4' is no JSON: a comma or } should be there",
		`{"list": ["a" "b"]}`: `'"' is no JSON: a comma or ] should be there`,
		"{}\n}":               "line 2: '}' stands behind the end of the JSON",
		"{\"name\": \"\n\"}":  "line 2: '\\n' cannot be in a JSON string",
		`{"on": trap}`:        "invalid JSON: 'a' in literal true (expecting 'u')",
		`{"name": 3}`:         `"name" is a number, not a string`,
		`{"a": 3}`:            `"a" is a number, not a string`,
		`{"on": "x"}`:         `"on" is a string, not true or false`,
		`{"x": "x"}`:          `"x" is a string, not a number`,
		`{"list": {}}`:        `"list" is an object, not an array`,
		`{"in": [1]}`:         `"in" is an array, not an object`,
		`{"in": {"k": "a"}}`:  `"in.k" is a string, not a whole number`,
		`{"in": {"k": 256}}`:  `"in.k" is 256, not a whole number in range`,
		`{"in": {"k": 1.5}}`:  `"in.k" is 1.5, not a whole number in range`,
		`[1]`:                 "it is an array, not an object",
	} {
		var v file
		err := strictjson.Error([]byte(text), json.Unmarshal([]byte(text), &v))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	other := errors.New("other")
	if strictjson.Error([]byte("{}"), nil) != nil || strictjson.Error([]byte("{}"), other) != other {
		t.Error("what is no error of JSON has changed")
	}
}
