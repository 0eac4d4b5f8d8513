// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/problems"
)

// TestPlaceOf names ports and nodes that a fabric has, and ones that it no longer has.
func TestPlaceOf(t *testing.T) {
	f := gentest.Fabric(t, "fattree:2,4")
	sw := f.Switches[0]
	for want, at := range map[string]problems.Place{
		f.NodeName(sw):        problems.PlaceOfNode(f, sw),
		f.NodeName(sw) + "/1": problems.PlaceOfPort(f, f.PortAt(sw, 1)),
		"gone":                {GUID: 0x99, Port: -1, Name: "gone"},
		"gone/7":              {GUID: 0x99, Port: 7, Name: "gone/7"},
		"":                    problems.WholeSubnet,
	} {
		if got := PlaceOf(f, at); got.String() != want && !(want == "" && got.IsNone()) {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}
