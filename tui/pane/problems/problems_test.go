// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"slices"
	"testing"

	found "example.org/ibconsole/fabric/problems"
)

// TestUnknownIsListed: what may be a problem is a note that says so, with what to try; what
// was only not looked at is not listed.
func TestUnknownIsListed(t *testing.T) {
	var r found.Report
	r.Skip("flapping links", "watch 10", "nobody watches the subnet")
	r.Unknown("credit loops", "calibrate", "the service levels of paths were not read")
	want := []found.Problem{{Severity: found.Note, Kind: "credit loops", At: found.Nowhere, What: "unknown: the service levels of paths were not read", Try: "calibrate"}}
	if got := reported(&r); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
