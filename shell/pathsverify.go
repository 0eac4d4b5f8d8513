// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/session"
)

func (c *call) pathsVerify() error {
	live := c.Arg(0) == liveWord
	pairs := c.Int("sample", 100_000)
	if live {
		pairs = c.Int("sample", 500)
	}
	if pairs < 1 {
		return fmt.Errorf("sample=%d: expected 1 or more", pairs)
	}
	v, done, err := c.pathsView()
	if err != nil {
		return err
	}
	defer done()
	drawn, err := c.drawnPairs(pairs, live)
	if err != nil {
		return err
	}
	var differ []string
	n := 0
	note := func(p session.Pair, f *fabric.Fabric, why error) {
		if n++; n <= maxListed {
			differ = append(differ, fmt.Sprintf("%s to %s: %v", f.PortName(p.Src), destinationName(f, p.LID), why))
		}
	}
	beside := "the subnet administration"
	if live {
		f := c.session.State().Live.Fabric
		err = c.session.PathRecords(c.ctx, drawn, func(p session.Pair, r sa.PathRecord, err error) error {
			if why := session.BesidePath(v, f.Ports[p.Src].LID, p.LID, &r, err); why != nil {
				note(p, f, why)
			}
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		st, p, err := c.tablesOf()
		if err != nil {
			return err
		}
		beside = st.Title(p)
		for i, pair := range drawn {
			if i%1024 == 0 && c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			if err := paths.Compare(v, p.Tables, pair.Src, pair.LID); err != nil {
				note(pair, p.Fabric, err)
			}
		}
	}
	err = c.out.answer(struct {
		Pairs       int      `json:"pairs"`
		Beside      string   `json:"beside"`
		Differ      int      `json:"differ"`
		Differences []string `json:"differences"`
	}{len(drawn), beside, n, append([]string{}, differ...)}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s compared with %s: %d differ\n", count(len(drawn), "path"), beside, n)
		for _, d := range differ {
			_, _ = fmt.Fprintf(w, "  %s\n", d)
		}
		if n > len(differ) {
			_, _ = fmt.Fprintf(w, "  and %d more\n", n-len(differ))
		}
	})
	if err == nil && n > 0 {
		err = found("%d of %s differ from %s", n, count(len(drawn), "path"), beside)
	}
	return err
}

// drawnPairs draws pairs of end ports; those of channel adapters alone where a
// subnet administration is asked, for the rates of switches' own ports are not swept.
func (c *call) drawnPairs(n int, live bool) ([]session.Pair, error) {
	st := c.session.State()
	p, err := st.Of(session.Kind(c.Option("of", "")))
	if err != nil {
		return nil, err
	}
	f := p.Fabric
	if live {
		f = st.Live.Fabric
	}
	var ends []fabric.PortIndex
	for _, e := range f.EndPorts {
		if f.Ports[e].LID != 0 && (!live || f.Ports[e].Num != 0) {
			ends = append(ends, e)
		}
	}
	if len(ends) == 0 {
		return nil, errors.New("no end port has a LID")
	}
	r := rand.New(rand.NewPCG(uint64(c.Int("seed", 1)), 0))
	pairs := make([]session.Pair, n)
	for i := range pairs {
		dst := ends[r.IntN(len(ends))]
		pairs[i] = session.Pair{Src: ends[r.IntN(len(ends))], LID: f.Ports[dst].LID + uint16(r.IntN(1<<f.Ports[dst].LMC))}
	}
	return pairs, nil
}
