package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// DecodeStrict decodes a JSON value that is alone in a text that anybody may have made. A field
// that v does not have is an error, and so is a key that is there twice (mma.CheckKeys).
func DecodeStrict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return mma.JSONError(text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something after the JSON value")
	}
	return mma.CheckKeys(text, v)
}
