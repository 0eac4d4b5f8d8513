// SPDX-License-Identifier: Apache-2.0

// Package verdict defines the result of a check: ok, found or unknown.
package verdict

// Verdict is the result of a check.
type Verdict uint8

// The verdicts.
const (
	// OK means that nothing is wrong, and that all data that the check depends on was read.
	OK Verdict = iota
	// Found means that something is wrong, regardless of other data that was not read.
	Found
	// Unknown means that nothing wrong was found, but data that could change this result was not read.
	Unknown
)

// Of returns the verdict of a check. The argument found is set if something is wrong, and unknown if not all data was
// read.
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

// Worst returns the combined verdict of two checks.
func Worst(a, b Verdict) Verdict { return Of(a == Found || b == Found, a == Unknown || b == Unknown) }
