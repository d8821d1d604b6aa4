package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// output is the standard output. It keeps its first error, after which it takes
// no more: a full disk is noticed in one place, whoever writes.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		o.err = fmt.Errorf("writing to standard output: %w", err)
	}
	return n, o.err
}

// writeJSON writes one JSON object in a line, with the version of the schema if
// it has none of its own.
func (a *app) writeJSON(object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var version struct {
		V *int `json:"v"`
	}
	if err := json.Unmarshal(body, &version); err != nil {
		return err
	}
	if version.V == nil {
		head := fmt.Appendf(nil, `{"v":%d`, schemaVersion)
		if len(body) > len("{}") {
			head = append(head, ',')
		}
		body = append(head, body[1:]...)
	}
	_, err = a.stdout.Write(append(body, '\n'))
	return err
}
