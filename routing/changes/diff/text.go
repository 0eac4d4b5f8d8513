// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// shownLoads is how many changed links the text names.
const shownLoads = 5

// Text writes the result for a person, a line a fact, names escaped.
func (r *Result) Text(w io.Writer) error {
	t := text{}
	t.line("pairs lost", "%s", grouped(r.Pairs.CutOff))
	t.pairs(r.CutOff, r.Pairs.CutOff)
	if r.Pairs.ByLuck > 0 {
		t.line("pairs reached by luck", "%s, by some choices of adaptive routing; before %s of them", grouped(r.Pairs.ByLuck), grouped(r.Pairs.ByLuckBefore))
		t.pairs(r.ByLuck, r.Pairs.ByLuck)
	}
	if r.Pairs.Connected > 0 {
		t.line("pairs newly connected", "%s", grouped(r.Pairs.Connected))
		t.pairs(r.Connected, r.Pairs.Connected)
	}
	t.line("pairs with another path", "%s of %s", grouped(r.Pairs.Changed), grouped(r.Pairs.Total))
	if r.Pairs.Unreached > 0 {
		t.line("pairs lost as before", "%s", grouped(r.Pairs.Unreached))
	}
	if r.Pairs.Unknown > 0 {
		t.line("pairs not known", "%s, over switches whose tables were not read", grouped(r.Pairs.Unknown))
	}
	t.line("LFT entries", "%s", r.Entries.text())
	t.multicast(r.Multicast)
	t.ports("end ports gone", r.Gone)
	t.ports("end ports come", r.Come)
	if n := len(r.Moved); n > 0 {
		t.line("LIDs moved", "%s", grouped(int64(n)))
	}
	t.links("links down", r.Down)
	t.links("links up", r.Up)
	t.loads(r)
	_, err := io.WriteString(w, t.String())
	return err
}

// text lays out lines of a label and a fact.
type text struct{ strings.Builder }

func (t *text) line(label, format string, args ...any) {
	fmt.Fprintf(t, "%-25s %s\n", label, fmt.Sprintf(format, args...))
}

func (t *text) pairs(examples []Pair, n int64) {
	examples = examples[:min(len(examples), defaultExamples)]
	for _, p := range examples {
		fmt.Fprintf(t, "  %s (LID %d) -> %s (LID %d)\n", p.Src.Name, p.Src.LID, p.Dst.Name, p.Dst.LID)
	}
	t.more(int64(len(examples)), n)
}

func (t *text) more(shown, n int64) {
	if shown > 0 && n > shown {
		fmt.Fprintf(t, "  and %s more\n", grouped(n-shown))
	}
}

func (t *text) ports(label string, ports []Port) {
	if len(ports) == 0 {
		return
	}
	t.line(label, "%s", grouped(int64(len(ports))))
	shown := ports[:min(len(ports), defaultExamples)]
	for _, p := range shown {
		fmt.Fprintf(t, "  %s (LID %d)%s\n", p.Name, p.LID, prose.When(p.Unreachable, ", unreachable", ""))
	}
	t.more(int64(len(shown)), int64(len(ports)))
}

func (t *text) links(label string, links []Link) {
	if len(links) == 0 {
		return
	}
	t.line(label, "%s", grouped(int64(len(links))))
	shown := links[:min(len(links), defaultExamples)]
	for _, l := range shown {
		fmt.Fprintf(t, "  %s -- %s\n", l.A.Name, l.B.Name)
	}
	t.more(int64(len(shown)), int64(len(links)))
}

func (t *text) loads(r *Result) {
	if len(r.Loads) > 0 {
		t.line("links with other loads", "%s", grouped(int64(len(r.Loads))))
		for _, l := range r.Loads[:min(len(r.Loads), shownLoads)] {
			fmt.Fprintf(t, "  %s: %s paths, was %s; %s entries, was %s\n", l.name(),
				grouped(l.PathsNew), grouped(l.PathsOld), grouped(int64(l.EntriesNew)), grouped(int64(l.EntriesOld)))
		}
		t.more(int64(min(len(r.Loads), shownLoads)), int64(len(r.Loads)))
	}
	if r.WorstOld != nil && r.WorstNew != nil {
		t.line("most paths on a link", "%s, was %s   %s", grouped(r.WorstNew.PathsNew), grouped(r.WorstOld.PathsOld), r.WorstNew.name())
	}
}

func (l *Load) name() string {
	if l.To == nil {
		return l.From.Name
	}
	return l.From.Name + " -> " + l.To.Name
}

func (e *Entries) text() string {
	return fmt.Sprintf("%s on %s switches, %s blocks", grouped(int64(e.Changed)), grouped(int64(e.Switches)), grouped(int64(e.Blocks))) + NotCompared(e.Unread)
}

// NotCompared is what stands behind a count of changed entries where the tables of so
// many switches were not read in one of the pictures, "" for none.
func NotCompared(unread int) string {
	if unread == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not compared, as a table was not read", prose.Count(unread, "switch"))
}

// grouped writes 11664 as "11,664".
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
