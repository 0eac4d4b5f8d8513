// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/plain"
)

// checksum begins the last member of the report's JSON object. It covers all bytes before it.
const checksum = `,"checksum":"sha256:`

// Write writes the report as one JSON object with a checksum at its end.
func (r *Report) Write(out io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	_, err = fmt.Fprintf(out, "%s%s%s", text, checksum, sumOf(text))
	return err
}

// sumOf returns the text that follows checksum.
func sumOf(text []byte) string { return fmt.Sprintf("%x\"}\n", sha256.Sum256(text)) }

// unchecked reports whether the text of a report has no checksum. It returns an error if the checksum is wrong.
func unchecked(text []byte) (bool, error) {
	at := bytes.LastIndex(text, []byte(checksum))
	if at < 0 {
		return true, nil
	}
	want, got := sumOf(text[:at]), string(text[at+len(checksum):])
	if got == want {
		return false, nil
	}
	digits, _, _ := bytes.Cut([]byte(got), []byte("\""))
	return false, fmt.Errorf("%w: its checksum is %.16s..., that of its content is %.16s..., expected a report "+
		"as resilience wrote it", ErrDamaged, fabric.Escape(string(digits)), want)
}

// ErrDamaged means that a report was changed after it was written.
var ErrDamaged = errors.New("damaged or edited")

// escaped reports whether all names can be printed, as those that a study writes.
func (r *Report) escaped() bool {
	for i := range r.Failed {
		if v := &r.Failed[i]; !plain.Escaped(v.Name) || !plain.Escaped(v.At) {
			return false
		}
	}
	return plain.Escaped(string(r.Kind))
}
