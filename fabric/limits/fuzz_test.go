// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"testing"
	"time"
)

// FuzzParse checks the limits of accepted rules.
func FuzzParse(f *testing.F) {
	f.Add("SymbolErrorCounter 120/1h error clear=60")
	f.Add("SymbolErrorCounter off")
	f.Add("PortXmitWait 9223372036854775807/24h note clear=0")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text, "conf:1")
		if err == nil && !r.Off && (r.Clear > r.Limit || r.Period < time.Second || r.Period > longest) {
			t.Errorf("%q is %+v", text, r)
		}
	})
}
