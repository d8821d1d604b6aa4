package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

type inner struct {
	Name string `json:"name"`
	List []keys `json:"list"`
}

type formats struct {
	A fp.ID `json:"a"`
}

// keys has fields of all kinds.
type keys struct {
	inner
	V     int               `json:"v"`
	A     *inner            `json:"a,omitempty"`
	Plain int               // Plain, in JSON too
	Env   map[string]string `json:"env"`
	Of    map[string]inner  `json:"of"`
	Any   any               `json:"any"`
	Raw   json.RawMessage   `json:"raw"`
	Set   formats           `json:"set"`
}

func TestUnmarshal(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"v":1,"a":{"name":"x"},"Plain":2,"name":"y","env":{"go":"1","GO":"2"},"any":[{"v":1},{"V":2}]}`, ""},
		{` { "v" : -1 , "list" : [ ] , "env" : { } , "raw" : "a\"b\\" , "of" : null } `, ""},
		{`{"unknown":{"x":[1,2,{"y":true}]},"v":3}`, ""},
		{`{"v":1,"v":2}`, `"v" is there twice`},
		{"{\n\"v\":1,\n\"\\u0076\":2}", `line 3: "v" is there twice`},
		{`{"v":1,"V":2}`, `"V" is written "v"`},
		{`{"plain":1}`, `"plain" is written "Plain"`},
		{`{"a":{"name":"x"},"A":{"list":[]}}`, `"A" is written "a"`},
		{`{"a":{"list":[{"v":1},{"v":1,"name":"","NAME":""}]}}`, `"a.list #2.NAME" is written "name"`},
		{`{"list":[{"name":"","name":""}]}`, `"list #1.name" is there twice`},
		{`{"env":{"x":"1","x":"2"}}`, `"env.x" is there twice`},
		{`{"of":{"x":{"Name":"1"}}}`, `"of.x.Name" is written "name"`},
		{`{"any":[[{"x":1,"y":2,"x":3}]]}`, `"any #1 #1.x" is there twice`},
		{`{"raw":{"x":1,"x":2}}`, `"raw.x" is there twice`},
		{`{"set":{"A":"fp16"}}`, `"set.A" is written "a"`},
		{`{"list":[{"v":1},{"v":"x"}]}`, `"list #2.v" is a string, not a whole number`},
		{`{"list":[{"v":1},{"v":1,"env":[]}]}`, `"list #2.env" is an array, not an object`},
		{`{"v":1`, "the JSON is cut short"},
		{`{"any":` + strings.Repeat("[", 20_000), "byte 10007: '[' is nested too deeply"},
		{"{\"any\":\n" + strings.Repeat("[", 20_000), "line 2: '[' is nested too deeply"},
	} {
		got := ""
		if err := Unmarshal([]byte(tc.text), &keys{}); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%.60s:\n got %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

// FuzzCheckKeys: of valid JSON without a key twice, written again, nothing is refused as such.
func FuzzCheckKeys(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,"x\\\"",null,{}]},"a":2}`, `[]`, `0`, ` "x" `, `{"\ud800":1,"` + "\xff" + `":2}`, `{"V":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if !json.Valid(text) || d.Decode(&v) != nil {
			return
		}
		_ = checkKeys(text, &keys{})
		_ = Unmarshal(text, &keys{})
		err := checkKeys(text, &v)
		once, _ := json.Marshal(v)
		if again := checkKeys(once, &v); again != nil {
			t.Errorf("%s: %v", once, again)
		}
		if err == nil && bytes.Count(text, []byte(":")) > 0 && bytes.IndexByte(text, '"') >= 0 && names(once) != names(text) {
			t.Errorf("%s has a key twice, as %s shows", text, once)
		}
	})
}

// names counts the keys in JSON.
func names(text []byte) int {
	n := 0
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var kinds []json.Delim
	key := false
	for {
		token, err := d.Token()
		if err != nil {
			return n
		}
		delim, ok := token.(json.Delim)
		switch {
		case ok && (delim == '{' || delim == '['):
			kinds = append(kinds, delim)
			key = delim == '{'
			continue
		case ok:
			kinds = kinds[:len(kinds)-1]
		case key:
			n++
			key = false
			continue
		}
		key = len(kinds) > 0 && kinds[len(kinds)-1] == '{'
	}
}

// BenchmarkCheckKeys checks a long list of small objects.
func BenchmarkCheckKeys(b *testing.B) {
	text := []byte(`{"list":[` + strings.Repeat(`{"v":1,"name":"some name of a thing","env":{"go":"1.26","os":"linux"}},`, 20_000) + `{}]}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := checkKeys(text, &keys{}); err != nil {
			b.Fatal(err)
		}
	}
}
