// SPDX-License-Identifier: Apache-2.0

package prose

// Plain reports whether all bytes are printable ASCII characters.
func Plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
