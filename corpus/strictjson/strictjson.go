// Package strictjson reads JSON that anybody may have made: its errors say in plain words what
// is wrong and where, and it refuses objects that programs read in different ways.
//
// The API of this package is not promised: it may change in any version.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Unmarshal is json.Unmarshal with the errors of Error. It also returns an error if an object
// has a key twice, or one that differs from the name of a field by upper and lower case only.
func Unmarshal(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return Error(text, err)
	}
	return checkKeys(text, v)
}

// UnmarshalKnown is Unmarshal, but a field that v does not have is an error as well. what is
// the kind of JSON that the text is, for the error if something follows it: value, object.
func UnmarshalKnown(text []byte, v any, what string) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return Error(text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something after the JSON " + what)
	}
	return checkKeys(text, v)
}
