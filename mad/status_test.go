// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

func TestStatusError(t *testing.T) {
	for status, want := range map[Status]string{
		StatusOK:                 "no error (MAD status 0x0000)",
		StatusBusy:               "busy, discarded (MAD status 0x0001)",
		StatusBadVersion:         "base or class version not supported (MAD status 0x0004)",
		StatusMethodUnsupported:  "method not supported (MAD status 0x0008)",
		StatusMethodAttrMismatch: "method with this attribute not supported (MAD status 0x000c)",
		StatusInvalidValue:       "invalid value in attribute or modifier (MAD status 0x001c)",
		0x0010:                   "reserved code 4 (MAD status 0x0010)",
		0x0200:                   "class specific 0x02 (MAD status 0x0200)",
		0x011f: "busy, discarded, redirected to another agent, which is not followed, invalid " +
			"value in attribute or modifier, class specific 0x01 (MAD status 0x011f)",
		0x0020: "reserved bits (MAD status 0x0020)",
	} {
		if got := status.Error(); got != want {
			t.Errorf("0x%04x is %q, want %q", uint16(status), got, want)
		}
	}
}
