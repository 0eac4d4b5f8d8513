// SPDX-License-Identifier: Apache-2.0

package svg

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// wholeScreen is the beginning of each event that redraws the whole screen.
const wholeScreen = "\x1b[H\x1b[2J"

// screen is the contents of the terminal from a time in the film, in seconds, until the next screen.
type screen struct {
	from float64
	rows []string
}

// readCast reads an asciicast v2 (docs.asciinema.org/manual/asciicast/v2). Each event redraws the whole screen. The
// last event is empty and marks the end of the film.
func readCast(r io.Reader) (screens []screen, columns, rows int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	var header struct{ Version, Width, Height int }
	in.Scan()
	if err := json.Unmarshal(in.Bytes(), &header); err != nil || header.Version != 2 {
		return nil, 0, 0, fmt.Errorf("line 1: expected the header of an asciicast v2")
	}
	for line := 2; in.Scan(); line++ {
		var event [3]any
		if err := json.Unmarshal(in.Bytes(), &event); err != nil {
			return nil, 0, 0, fmt.Errorf("line %d: %w", line, err)
		}
		from, isTime := event[0].(float64)
		text, isText := event[2].(string)
		text, whole := strings.CutPrefix(text, wholeScreen)
		if !isTime || !isText || event[1] != "o" || !whole && text != "" {
			return nil, 0, 0, fmt.Errorf("line %d: expected a whole screen as output", line)
		}
		screens = append(screens, screen{from, carry(strings.Split(text, "\r\n"))})
	}
	if len(screens) < 2 {
		return nil, 0, 0, fmt.Errorf("expected a screen and an end")
	}
	return screens, header.Width, header.Height, in.Err()
}

// Film draws a film as an SVG animation that repeats. A row that stays the same on several screens is drawn only
// once.
func Film(r io.Reader, w io.Writer) error {
	screens, columns, rows, err := readCast(r)
	if err != nil {
		return err
	}
	last := len(screens) - 1
	end := screens[last].from
	var body, style strings.Builder
	var spans [][2]int // of screens, each a class
	for y := range rows {
		for from := 0; from < last; {
			to := from + 1
			for to < last && rowOf(screens[to], y) == rowOf(screens[from], y) {
				to++
			}
			if row := rowOf(screens[from], y); row != "" {
				span := [2]int{from, to}
				class := slices.Index(spans, span)
				if class < 0 {
					class = len(spans)
					spans = append(spans, span)
					keyframes(&style, class, screens[from].from/end, screens[to].from/end, end)
				}
				fmt.Fprintf(&body, "<g class=\"s%d\">\n", class)
				drawRow(&body, row, y, Dark)
				body.WriteString("</g>\n")
			}
			from = to
		}
	}
	return frame(w, columns, rows, "<style>\n"+style.String()+"</style>\n"+body.String(), Dark)
}

func rowOf(s screen, y int) string {
	if y < len(s.rows) {
		return s.rows[y]
	}
	return ""
}

// keyframes writes CSS that makes the elements of a class visible from one fraction of the film to another. Viewers
// without animation show only the first screen.
func keyframes(b *strings.Builder, class int, from, to, seconds float64) {
	at := func(part float64, visibility string) { fmt.Fprintf(b, "%.3f%%{visibility:%s}", 100*part, visibility) }
	fmt.Fprintf(b, "@keyframes k%d{", class)
	if from > 0 {
		at(0, "hidden")
	}
	at(from, "visible")
	if to < 1 {
		at(to, "hidden")
	}
	still := ""
	if from > 0 {
		still = "visibility:hidden;"
	}
	fmt.Fprintf(b, "}\n.s%d{%sanimation:k%d %gs step-end infinite}\n", class, still, class, seconds)
}
