package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// notNumber matches NaN and infinity as other programs write them into JSON, which has no such
// numbers.
var notNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)[\[:,]\s*[-+]?(nan|inf)`) })

// readJSON reads objects with a, b, c and d: numbers, strings, or lists of them; one after the
// other, as in JSON lines, or in a list.
func readJSON(body []byte, from string) (map[string]*array, error) {
	var objects []json.RawMessage
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		var one json.RawMessage
		if err := d.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			err = fmt.Errorf("after %d objects: %w", len(objects), strictjson.Error(body, err))
			if notNumber().Match(body) {
				err = hint.Add(err, `NaN and infinities are written "nan" and "inf"`)
			}
			return nil, err
		}
		var list []json.RawMessage
		if one[0] == '[' && json.Unmarshal(one, &list) == nil {
			objects = append(objects, list...)
		} else {
			objects = append(objects, one)
		}
	}
	all := map[string]*array{}
	for i, text := range objects {
		place := fmt.Sprintf("%s, object %d", from, i+1)
		var fields map[string]json.RawMessage
		if err := strictjson.Unmarshal(text, &fields); err != nil {
			return nil, fmt.Errorf("object %d: %w", i+1, err)
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			role := roleOf(name)
			if role == "" {
				continue
			}
			x := all[role]
			if x == nil {
				x = &array{from: from, byRow: true}
				all[role] = x
			}
			shape, err := x.append(fields[name])
			switch {
			case err != nil:
				return nil, fmt.Errorf("object %d: %.40q: %w", i+1, name, err)
			case len(x.rows) > i:
				return nil, fmt.Errorf("object %d has %s twice, one of them as %.40q", i+1, strings.ToUpper(role), name)
			case len(x.rows) < i:
				return nil, fmt.Errorf("object %d lacks %s, which object %d has", len(x.rows)+1, strings.ToUpper(role), i+1)
			case i > 0 && !slices.Equal(shape, x.shape[1:]):
				return nil, fmt.Errorf("object %d: %.40q has the shape %v, that before has %v", i+1, name, shape, x.shape[1:])
			}
			x.rows = append(x.rows, place)
			x.shape = append([]int{len(objects)}, shape...)
		}
	}
	for _, role := range operands {
		if x := all[role]; x != nil && (len(x.rows) != len(objects) || x.elements() == 0) {
			if len(x.rows) < len(objects) {
				return nil, fmt.Errorf("object %d lacks %s, which object %d has", len(x.rows)+1, strings.ToUpper(role), len(x.rows))
			}
			return nil, fmt.Errorf("%s is empty in all objects", strings.ToUpper(role))
		}
	}
	return all, nil
}

// append appends the elements of a value and returns its shape.
func (x *array) append(value json.RawMessage) ([]int, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return x.flatten(v, 3)
}

// flatten appends the elements of a value and returns its shape. Lists may be nested as deep as
// levels says.
func (x *array) flatten(v any, levels int) ([]int, error) {
	switch v := v.(type) {
	case json.Number:
		x.text = append(x.text, v.String())
	case string:
		x.text = append(x.text, v)
	case []any:
		if levels == 0 {
			return nil, errors.New("there are lists in lists of lists of lists")
		}
		var inner []int
		for i, e := range v {
			shape, err := x.flatten(e, levels-1)
			if err != nil {
				return nil, err
			}
			if i > 0 && !slices.Equal(shape, inner) {
				return nil, errors.New("its rows have different lengths")
			}
			inner = shape
		}
		return append([]int{len(v)}, inner...), nil
	default:
		return nil, fmt.Errorf("%v is neither a number nor a string", v)
	}
	return nil, nil
}
