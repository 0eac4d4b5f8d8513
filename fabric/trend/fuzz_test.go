// SPDX-License-Identifier: Apache-2.0

package trend

import "testing"

// FuzzParseLimit checks that a limit that is accepted has a name.
func FuzzParseLimit(f *testing.F) {
	f.Add("temperature 70")
	f.Add("rx_power -8.5")
	f.Add("temperature 1e400")
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := ParseLimit(text, "conf:1"); err == nil && l.Name() == "" {
			t.Errorf("%q is %+v", text, l)
		}
	})
}
