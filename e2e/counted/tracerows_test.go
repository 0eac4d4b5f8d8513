// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// traceRows compares the rows of `trace file=PAIRS`: a row for each LID of each destination, in the order of the file
// among paths that do not arrive, unknown paths, and paths that arrive.
func (x *exam) traceRows(s *state) {
	type row struct {
		src, dst endPort
		p        path
	}
	ends := s.ends(true)
	if len(ends) < 2 {
		return
	}
	var file strings.Builder
	var byOutcome [3][]row
	for range 20 {
		pair := some(x.rnd, 2, ends)
		fmt.Fprintln(&file, pair[0].word(), pair[1].word())
		for k := range max(1, len(pair[1].port().lids())) {
			p := s.between(pair[0], pair[1], k)
			outcome := 0
			switch {
			case p.arrives():
				outcome = 2
			case p.ends == unknown:
				outcome = 1
			}
			byOutcome[outcome] = append(byOutcome[outcome], row{pair[0], pair[1], p})
		}
	}
	name := filepath.Join(x.t.TempDir(), "pairs")
	if err := os.WriteFile(name, []byte(file.String()), 0o600); err != nil {
		x.t.Fatal(err)
	}
	a := x.ask(fmt.Sprintf("trace file=%s rows of=%s", name, s.name))
	rows, want := a.rows("rows"), slices.Concat(byOutcome[:]...)
	if x.compared++; len(rows) != len(want) {
		a.wrong("rows", a.err, len(rows), len(want))
		return
	}
	text := slices.IndexFunc(a.lines, func(line string) bool { return strings.HasPrefix(line, "FROM ") }) + 1
	for i, w := range want {
		o, why := rows[i], s.why(w.src, w.dst, w.p)
		for key, value := range map[string]string{
			"from": fmt.Sprint(plugOf(w.src.port())), "to": fmt.Sprint(plugOf(w.dst.port())), "ending": w.p.ends,
			"arrives": fmt.Sprint(w.p.arrives()), "why": why, "lid": fmt.Sprint(w.p.lid),
			"hops": fmt.Sprint(w.p.links()),
		} {
			got, is := o.at(key)
			switch {
			case key == "from" || key == "to":
				got = s.plugAt(o, key)
			case key == "lid" && w.p.lid == 0, key == "hops" && !w.p.arrives():
				value = "<nil>"
			case !is:
				got = nil
			}
			if x.compared++; fmt.Sprint(got) != value {
				a.wrong(fmt.Sprintf("rows.%d.%s", i, key), "-", got, value)
			}
		}
		line := ""
		if text+i < len(a.lines) {
			line = a.lines[text+i]
		}
		if !strings.HasPrefix(line, w.src.port().String()+"  ") || !strings.HasSuffix(line, "  "+why) {
			a.wrong(fmt.Sprintf("rows.%d", i), line, "-", why)
		}
	}
}
