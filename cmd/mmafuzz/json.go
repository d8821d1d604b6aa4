package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// writeJSON writes one JSON object on one line, with the version of the schema if
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
	_, err = a.stdout.Write(append(printable.JSON(body), '\n'))
	return err
}

// writeAll writes each of some objects on a line.
func writeAll[T any](a *app, objects []T) error {
	for _, o := range objects {
		if err := a.writeJSON(o); err != nil {
			return err
		}
	}
	return nil
}

// writeIf writes each of some objects on a line if JSON is asked for.
func writeIf[T any](a *app, objects []T) error {
	if !a.json {
		return nil
	}
	return writeAll(a, objects)
}

// result writes a result: as JSON, or as text for people.
func (a *app) result(object any, text func(w io.Writer, width int)) error {
	if a.json {
		return a.writeJSON(object)
	}
	text(a.stdout, a.width)
	return a.stdout.Err()
}
