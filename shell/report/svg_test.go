// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
)

// shapes counts the elements of a drawing, which must be well-formed, and collects what its titles say.
func shapes(t *testing.T, svg string) (boxes, lines, dashed int, titles []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	inTitle := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return boxes, lines, dashed, titles
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inTitle = e.Name.Local == "title"
			switch e.Name.Local {
			case "g":
				boxes++
			case "path":
				lines++
				for _, a := range e.Attr {
					if a.Name.Local == "stroke-dasharray" {
						dashed++
					}
				}
			}
		case xml.CharData:
			if inTitle {
				titles = append(titles, string(e))
			}
		case xml.EndElement:
			inTitle = false
		}
	}
}

// TestSVG: four leaves and two spines, each linked with each; one of these links has failed.
func TestSVG(t *testing.T) {
	for _, names := range [][]string{nil, hostile} {
		if boxes, lines, dashed, _ := shapes(t, written(t, made(t, names...), "svg")); boxes != 6 || lines != 8 ||
			dashed != 0 {
			t.Errorf("%d blocks, %d bundles, %d of them dashed; want 6, 8 and 0", boxes, lines, dashed)
		}
	}
	f, r := madeOf(t)
	failed := map[fabric.Link]bool{}
	for _, l := range f.Links() {
		if f.Nodes[f.Ports[l.A].Node].IsSwitch() && f.Nodes[f.Ports[l.B].Node].IsSwitch() && len(failed) == 0 {
			failed[l] = true
		}
	}
	r.Draw(f, failed, nil)
	_, _, dashed, titles := shapes(t, written(t, r, "svg"))
	said := 0
	for _, text := range titles {
		if strings.Contains(text, "1 failed") {
			said++
		}
	}
	if dashed != 1 || said != 3 { // the bundle and both of its ends
		t.Errorf("%d dashed, %d titles for it: %q", dashed, said, titles)
	}
}
