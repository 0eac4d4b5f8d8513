// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/log"
)

// TestGoldenFabrics compares tiers and heat map of two fabrics of today, routed on paper, with frames that somebody has
// held against their cabling: hosts on rails, aggregation nodes on every switch, directors, leaves that lack uplinks.
func TestGoldenFabrics(t *testing.T) {
	for _, name := range []string{"real-ndr-rail-40sw.topo", "real-cs8500-hdr-192sw.net"} {
		t.Run(name, func(t *testing.T) {
			file := testenv.SharedFile(t, "fabrics/"+name)
			d := drive(t, "file:"+file)
			th, err := draw.NewTheme("none", looks()[3].profile, looks()[3].glyphs, nil)
			if err != nil {
				t.Fatal(err)
			}
			*d.m.Look = *th
			d.press(":engine updn; route", "enter")
			d.m.jobs.running = nil
			d.m.all[d.m.at(pane.SeatLog)] = log.New(d.m.Common)
			for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
				d.size(size[0], size[1])
				for _, shown := range []struct{ name, key string }{{"topology", "2"}, {"load", "6"}} {
					d.press(shown.key, "g")
					for shown.key == "6" && !strings.Contains(d.screen(), "heat map, upwards") {
						d.press("b")
					}
					d.press("z")
					d.m.inform("")
					// without the header, which has the path of the file and the time
					_, frame, _ := strings.Cut(d.screen(), "\n")
					d.press("z")
					golden(t, filepath.Join("fabrics",
						fmt.Sprintf("%s-%s-%dx%d", strings.TrimSuffix(name, filepath.Ext(name)), shown.name, size[0],
							size[1])), frame)
				}
			}
		})
	}
}
