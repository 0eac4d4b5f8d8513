// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/survey"
)

// TestHealthyFabrics reads real fabrics. The reported links are those that a separate reading of the lines of the file
// finds.
func TestHealthyFabrics(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Shared(t), "fabrics", "*.[nt]*o*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fabrics: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := sessiontest.Open(t, "file:"+file)
			rep, err := survey.Problems(t.Context(), s, survey.Options{})
			if err != nil {
				t.Fatal(err)
			}
			narrow, slow := belowTheirLike(t, file)
			odd := len(s.Analysis().Structure(s.State().Live.Fabric).Anomalies)
			for _, p := range rep.Problems {
				switch p.Kind {
				case problems.Narrow:
					narrow--
				case problems.Slow:
					slow--
				case problems.Noticed:
				case problems.Asymmetric:
					odd--
					if p.Severity != problems.Note {
						t.Errorf("%+v", p)
					}
				default:
					t.Errorf("%+v", p)
				}
			}
			if odd != 0 {
				t.Errorf("show structure names %d more that are odd", odd)
			}
			if narrow != 0 || slow != 0 {
				t.Errorf("the file has %d narrow and %d slow links more: %+v", narrow, slow, rep.Problems)
			}
		})
	}
}

var (
	nodeLine  = regexp.MustCompile(`^(Switch|Hca|Ca)\s+(\d+)\s+"([^"]+)"`)
	cableLine = regexp.MustCompile(
		`^\[(\d+)\][^"]*"([^"]+)"\s*\[(\d+)\].*\b(\d+)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR)\b`)
	deviceID = regexp.MustCompile(`^(vendid|devid)=(\S+)`)
	rates    = map[string]int{"SDR": 10, "DDR": 20, "QDR": 40, "FDR10": 41, "FDR": 56, "EDR": 100, "HDR": 200,
		"NDR": 400}
)

// belowTheirLike counts the links that are below nine of ten between the same kinds
// of devices, from the text of a topology.
func belowTheirLike(t *testing.T, file string) (narrow, slow int) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type cable struct{ from, to, width, speed string }
	kind := map[string]string{}
	var cables []cable
	node, device := "", ""
	for line := range strings.Lines(string(text)) {
		if m := deviceID.FindStringSubmatch(line); m != nil {
			if m[1] == "vendid" {
				device = ""
			}
			device += m[2] + " "
		}
		if m := nodeLine.FindStringSubmatch(line); m != nil {
			node = m[3]
			kind[node] = device + m[1]
			if m[1] == "Switch" {
				kind[node] += m[2]
			}
			device = ""
		}
		if m := cableLine.FindStringSubmatch(line); m != nil {
			cables = append(cables, cable{node, m[2], m[4], m[5]})
		}
	}
	like := map[string][]cable{}
	for _, c := range cables {
		a, b := kind[c.from], kind[c.to]
		like[min(a, b)+" - "+max(a, b)] = append(like[min(a, b)+" - "+max(a, b)], c)
	}
	for _, all := range like {
		widths, speeds := map[string]int{}, map[string]int{}
		for _, c := range all {
			widths[c.width]++
			speeds[c.speed]++
		}
		for _, c := range all {
			wider, faster := 0, 0
			for w, n := range widths {
				if len(w) > len(c.width) || len(w) == len(c.width) && w > c.width {
					wider += n
				}
			}
			for s, n := range speeds {
				if rates[s] > rates[c.speed] {
					faster += n
				}
			}
			if 10*wider >= 9*len(all) && len(all) >= 20 {
				narrow++
			}
			if 10*faster >= 9*len(all) && len(all) >= 20 {
				slow++
			}
		}
	}
	return narrow / 2, slow / 2 // each cable has two lines
}
