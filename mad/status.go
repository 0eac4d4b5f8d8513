// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"fmt"
	"strings"
)

// Status is the status of an answer. All values except 0 are errors (IBA 13.4.7). Bit 0 means busy, and bit 1 means
// redirect. Bits 2 to 4 hold a code. Bits 8 to 14 belong to the management class.
type Status uint16

// Statuses.
const (
	StatusOK                 Status = 0
	StatusBusy               Status = 1 << 0
	StatusRedirect           Status = 1 << 1
	StatusBadVersion         Status = 1 << 2
	StatusMethodUnsupported  Status = 2 << 2
	StatusMethodAttrMismatch Status = 3 << 2
	StatusInvalidValue       Status = 7 << 2

	statusCode  = 0x001c
	statusClass = 0x7f00
)

var statusCodes = map[Status]string{
	StatusBadVersion >> 2:         "base or class version not supported",
	StatusMethodUnsupported >> 2:  "method not supported",
	StatusMethodAttrMismatch >> 2: "method with this attribute not supported",
	StatusInvalidValue >> 2:       "invalid value in attribute or modifier",
}

// Error returns a description of the status with its number.
func (s Status) Error() string {
	if s == StatusOK {
		return "no error (MAD status 0x0000)"
	}
	var words []string
	if s&StatusBusy != 0 {
		words = append(words, "busy, discarded")
	}
	if s&StatusRedirect != 0 {
		words = append(words, "redirected to another agent (not followed)")
	}
	if code := s & statusCode >> 2; code != 0 {
		words = append(words, named(statusCodes, code, "reserved code %d"))
	}
	if c := s & statusClass >> 8; c != 0 {
		words = append(words, fmt.Sprintf("class specific 0x%02x", uint16(c)))
	}
	if len(words) == 0 {
		words = append(words, "reserved bits")
	}
	return fmt.Sprintf("%s (MAD status 0x%04x)", strings.Join(words, ", "), uint16(s))
}
