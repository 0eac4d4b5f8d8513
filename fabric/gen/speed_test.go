// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"

	"example.org/ibconsole/fabric"
)

// TestSpeeds checks that the argument overrides the caller's speed, and that one ibsim's default, SDR (ibsim,
// sim_net.c).
func TestSpeeds(t *testing.T) {
	for _, c := range []struct {
		spec string
		at   fabric.Speed
		want fabric.Speed
	}{
		{"mesh:2x2", fabric.NDR, fabric.NDR}, {"mesh:2x2,speed=hdr", fabric.NDR, fabric.HDR},
		{"mesh:2x2,speed=sdr", fabric.NDR, fabric.SDR},
	} {
		f, err := ParseSpecAt(c.spec, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Ports[f.Links()[0].A].Speed; got != c.want {
			t.Errorf("%s at %v: links of %v, want %v", c.spec, c.at, got, c.want)
		}
	}
	f, err := ParseSpec("mesh:2x2")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Ports[f.Links()[0].A].Speed; got != fabric.SDR {
		t.Errorf("the default speed is %v, want SDR", got)
	}
}
