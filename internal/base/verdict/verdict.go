// SPDX-License-Identifier: Apache-2.0

// Package verdict holds the result of a check: ok, found or unknown.
package verdict

// Verdict is the result of a check.
type Verdict uint8

// The verdicts.
const (
	// OK means that nothing is wrong, and that everything was read on which this depends.
	OK Verdict = iota
	// Found means that something is wrong, whatever was not read.
	Found
	// Unknown means that nothing wrong was found, and that something was not read which could change that.
	Unknown
)

// Of returns the verdict of a check that found something wrong or not, and of which something is unknown or not.
func Of(found, unknown bool) Verdict {
	switch {
	case found:
		return Found
	case unknown:
		return Unknown
	}
	return OK
}

// String returns "ok", "found" or "unknown".
func (v Verdict) String() string { return [...]string{"ok", "found", "unknown"}[v] }

// MarshalText implements [encoding.TextMarshaler].
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Worst returns the verdict of two checks together.
func Worst(a, b Verdict) Verdict { return Of(a == Found || b == Found, a == Unknown || b == Unknown) }
