// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
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

// TestCells draws 125 switches as cells, one for each, without lines between them. A failed switch has a cross, and so
// have the five switches that lost a link to it.
func TestCells(t *testing.T) {
	f, r := madeFrom(t, "fattree:3,10")
	boxes, lines, _, titles := shapes(t, written(t, r, "svg"))
	if boxes != 125 || lines != 1 || len(titles) != 125 { // the line is in the legend
		t.Errorf("%d cells, %d lines, %d titles; want 125, 1 and 125", boxes, lines, len(titles))
	}
	failed := map[fabric.Link]bool{}
	for p := range f.SwitchNode(0).Ports() {
		if l, ok := f.LinkOf(p); ok {
			failed[l] = true
		}
	}
	r.Draw(f, failed, nil)
	_, lines, _, titles = shapes(t, written(t, r, "svg"))
	words := strings.Join(titles, "\n")
	if lines != 1+1+5 || strings.Count(words, ", 1 failed") != 5 || strings.Count(words, ", 10 failed") != 1 {
		t.Errorf("%d crosses and the titles\n%s", lines-1, words)
	}
}

// TestHTMLInBrowser has Chromium draw the report of 125 switches. Each cell of 11 pixels is as large on the page, and
// the page is not wider than the window.
func TestHTMLInBrowser(t *testing.T) {
	browser := testenv.Tool(t, "chromium")
	_, r := madeFrom(t, "fattree:3,10")
	dir := t.TempDir()
	page, shot := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.png")
	if err := os.WriteFile(page, []byte(written(t, r, "html")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+dir, "--window-size=1100,2600", "--screenshot="+shot, "file://"+page)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("chromium does not run here: %v\n%s", err, out)
	}
	file, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	count := map[color.RGBA]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			count[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}]++
		}
	}
	inside := 0 // pixels of cells, without their borders
	for _, c := range []color.RGBA{{0xec, 0xef, 0xf1, 255}, {0xd3, 0xea, 0xd9, 255}, {0x8f, 0xcd, 0xa0, 255},
		{0xf5, 0xb8, 0x3d, 255}, {0xd8, 0x43, 0x2b, 255}} {
		inside += count[c]
	}
	const cells = 125 + 5 // with the legend
	if inside < cells*9*9 || inside > cells*11*11 {
		t.Errorf("the cells have %d pixels, want %d to %d", inside, cells*9*9, cells*11*11)
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
