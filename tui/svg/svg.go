// SPDX-License-Identifier: Apache-2.0

// Package svg draws screens of a terminal as SVG images.
package svg

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"example.org/ibconsole/internal/base/prose"
)

// The size of a character cell, in units of the image.
const (
	cellWidth, cellHeight = 8.4, 18.0
	baseline              = 13.5
)

// Paper holds the colour of the background, and of text without a colour.
type Paper struct{ ground, ink string }

// The papers of dark and of light terminals.
var (
	Dark  = Paper{ground: "#1c1c1c", ink: "#d3d7cf"}
	Light = Paper{ground: "#ffffff", ink: "#1c1c1c"}
)

// base are the first 16 colours.
var base = [16]string{
	"#1c1c1c", "#cc3333", "#4e9a06", "#c4a000", "#3465a4", "#8a5a9a", "#06989a", "#d3d7cf",
	"#6c6c6c", "#ef4949", "#8ae234", "#fce94f", "#729fcf", "#ad7fa8", "#34e2e2", "#eeeeec",
}

// style is the style of text. The colour "" is the default colour.
type style struct {
	fg, bg       string
	bold, invert bool
}

// Screen draws the contents of a terminal, given as lines with control sequences of colours.
func Screen(r io.Reader, w io.Writer, on Paper) error {
	var rows []string
	in := bufio.NewScanner(r)
	for in.Scan() {
		rows = append(rows, in.Text())
	}
	if err := in.Err(); err != nil {
		return err
	}
	var body strings.Builder
	wide := 0
	for y, row := range carry(rows) {
		wide = max(wide, drawRow(&body, row, y, on))
	}
	return frame(w, wide, len(rows), body.String(), on)
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;:]*)m")

// carry returns the rows with the style in which each begins: a terminal keeps the style at the end of a line.
func carry(rows []string) []string {
	out, open := make([]string, len(rows)), ""
	for y, row := range rows {
		out[y] = open + row
		for _, code := range sgr.FindAllStringSubmatch(row, -1) {
			if first, _, _ := strings.Cut(code[1], ";"); first == "" || first == "0" {
				open = ""
			}
			open += code[0]
		}
	}
	return out
}

// frame writes the SVG image: a background of columns x rows cells, then body.
func frame(w io.Writer, columns, rows int, body string, on Paper) error {
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %.1f\" "+
		"font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n%s</svg>\n", float64(columns)*cellWidth,
		float64(rows)*cellHeight, on.ground, body)
	return err
}

// drawRow draws one line of the screen and returns its width in cells.
func drawRow(b *strings.Builder, row string, y int, on Paper) int {
	var m style
	x := 0
	for row != "" {
		if rest, found := strings.CutPrefix(row, "\x1b["); found {
			codes, after, _ := strings.Cut(rest, "m")
			m = m.after(strings.FieldsFunc(codes, func(r rune) bool { return r == ';' || r == ':' }))
			row = after
			continue
		}
		text, rest := row, ""
		if i := strings.Index(row, "\x1b"); i == 0 {
			text, rest = "", row[1:]
		} else if i > 0 {
			text, rest = row[:i], row[i:]
		}
		n := runewidth.StringWidth(text)
		m.span(b, text, x, y, n, on)
		x += n
		row = rest
	}
	return x
}

// span draws text in n cells.
func (m style) span(b *strings.Builder, text string, x, y, n int, on Paper) {
	fg, bg := m.fg, m.bg
	if m.invert {
		fg, bg = cmp.Or(bg, on.ground), cmp.Or(fg, on.ink)
	}
	left, top, size := float64(x)*cellWidth, float64(y)*cellHeight, float64(n)*cellWidth
	if bg != "" && n > 0 {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", left, top, size,
			cellHeight, bg)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	weight := prose.When(m.bold, ` font-weight="bold"`, "")
	fmt.Fprintf(b, "<text xml:space=\"preserve\" x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" fill=\"%s\"%s>%s</text>\n",
		left, top+baseline, size, cmp.Or(fg, on.ink), weight, html.EscapeString(text))
}

// The method after returns the style that results when codes of Select Graphic Rendition (ECMA-48 8.3.117) are applied
// to m.
func (m style) after(codes []string) style {
	if len(codes) == 0 {
		return style{}
	}
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i])
		switch {
		case n == 0:
			m = style{}
		case n == 1:
			m.bold = true
		case n == 7:
			m.invert = true
		case n == 22:
			m.bold = false
		case n == 27:
			m.invert = false
		case n >= 30 && n <= 37:
			m.fg = base[n-30]
		case n >= 40 && n <= 47:
			m.bg = base[n-40]
		case n >= 90 && n <= 97:
			m.fg = base[n-82]
		case n >= 100 && n <= 107:
			m.bg = base[n-92]
		case n == 39:
			m.fg = ""
		case n == 49:
			m.bg = ""
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			if n == 38 {
				m.fg = colour
			} else {
				m.bg = colour
			}
			i += used
		}
	}
	return m
}

// extended returns the colour that the codes 5;N or 2;R;G;B select, and the number of codes used.
func extended(codes []string) (colour string, used int) {
	number := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i])
		return n
	}
	if number(0) == 2 {
		return fmt.Sprintf("#%02x%02x%02x", number(1)&255, number(2)&255, number(3)&255), 4
	}
	n := number(1) & 255
	switch {
	case n < 16:
		return base[n], 2
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey), 2
	}
	step := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6%6), step(n%6)), 2
}
