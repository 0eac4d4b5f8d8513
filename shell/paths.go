// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/pathdb"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func pathsCommands() []command {
	db := lang.Option{Name: "file", Kind: lang.KindFile, Summary: "ask this database, not the one that was loaded"}
	file := lang.Arg{Name: "FILE", Kind: lang.KindFile}
	return []command{{lang.Spec{Name: "paths", Summary: "path records of all pairs in one file: build, ask, compare, change",
		Help: "Without load paths FILE or file=FILE questions are answered from the tables of the picture.",
		Subcommands: []lang.Spec{
			{Name: "build", Summary: "write the path records of a routing", Args: []lang.Arg{file}, Options: []lang.Option{ofOption(),
				{Name: "trace", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "with the switches on the way (yes by default)"},
				{Name: "sa", Kind: lang.KindFlag, Summary: "ask the subnet administration for the service levels of partitions, and the switches for P_Keys"},
				{Name: "like", Kind: lang.KindFile, Summary: "keep the ports and the order of this database, so that paths delta leads from it to the new one"}}},
			{Name: "info", Summary: "what a database has, and what its parts take", Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}}},
			{Name: "query", Summary: "the records from SRC to DST, or to all",
				Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}}},
				Options: []lang.Option{ofOption(), db,
					{Name: "pkey", Kind: lang.KindText, Value: "0xNNNN", Summary: "only paths of this partition"},
					{Name: "sl", Kind: lang.KindInt, Summary: "only paths of this service level"},
					{Name: "way", Kind: lang.KindFlag, Summary: "the switches on the way, too"}}},
			{Name: "verify", Summary: "compare with the tables, or live with the running subnet administration",
				Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{liveWord}, Optional: true}},
				Options: []lang.Option{ofOption(), db,
					{Name: "sample", Kind: lang.KindInt, Summary: "how many pairs, drawn at random (100000, live 500)"},
					{Name: "seed", Kind: lang.KindInt, Summary: "of the draw"}}},
			{Name: "delta", Summary: "write what makes database OLD the paths of NEW",
				Args: []lang.Arg{{Name: "OLD", Kind: lang.KindFile}, {Name: "NEW", Kind: lang.KindFile}, file}},
			{Name: "apply", Summary: "change a database by a difference; who reads it sees the state before or the one after",
				Args: []lang.Arg{file, {Name: "DELTA", Kind: lang.KindFile}}},
			{Name: "acm", Summary: "write the records for ibacm (route_prov opensm_full_v1)", Args: []lang.Arg{file}, Options: []lang.Option{ofOption(), db,
				{Name: "for", Kind: lang.KindPlace, Summary: "only those of this host; the file of all hosts has a line for each pair"}}},
		}}, runPaths}}
}

func runPaths(c *call) error {
	switch c.Spec.Name {
	case "build":
		return c.pathsBuild()
	case "info":
		return c.pathsShow()
	case "query":
		return c.pathsQuery()
	case "verify":
		return c.pathsVerify()
	case "delta":
		return c.pathsDelta()
	case "apply":
		return c.pathsApply()
	}
	return c.pathsACM()
}

func (c *call) pathsBuild() error {
	var like *pathdb.View
	if name := c.Option("like", ""); name != "" {
		db, err := pathdb.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		like = db.View()
	}
	if c.Flag("sa") && c.session.State().PKeys == nil {
		if _, err := c.session.SweepFor(c.ctx, session.Reads{PKeys: true}); err != nil {
			return err
		}
	}
	image, rep, err := c.session.BuildPaths(c.ctx, session.Kind(c.Option("of", "")), c.Option("trace", "yes") == "yes", like, c.Flag("sa"))
	if err != nil {
		return err
	}
	if err := pathdb.WriteFile(c.Arg(0), image); err != nil {
		return err
	}
	c.out.note("path records of %s, built in %s", rep.Title, seconds(rep.Took))
	db, err := pathdb.Parse(image)
	if err != nil {
		return err
	}
	return c.pathsInfo(c.Arg(0), db.View().Info())
}

func (c *call) pathsShow() error {
	if name := c.Arg(0); name != "" {
		db, err := pathdb.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		return c.pathsInfo(name, db.View().Info())
	}
	db, name := c.session.Paths()
	if db == nil {
		return errors.New("no path database is loaded (try: paths info FILE, or load paths FILE)")
	}
	return c.pathsInfo(name, db.View().Info())
}

// pathsInfo says what a database has.
func (c *call) pathsInfo(name string, i pathdb.Info) error {
	return c.out.answer(struct {
		File     string `json:"file"`
		State    uint64 `json:"state"`
		Origin   string `json:"origin"`
		Built    string `json:"built,omitempty"`
		Ports    int    `json:"ports"`
		LIDs     int    `json:"lids"`
		Switches int    `json:"switches"`
		Rows     int    `json:"rows"`
		Classes  int    `json:"classes"`
		Tables   int    `json:"table_bytes"`
		Records  int    `json:"record_bytes"`
		Trace    int    `json:"trace_bytes"`
		Rest     int    `json:"rest_bytes"`
		Whole    int    `json:"bytes"`
	}{name, i.State, i.Origin, i.Built.Format("2006-01-02T15:04:05Z"), i.Ports, i.LIDs, i.Switches, i.Rows, i.Classes, i.Tables, i.Records, i.Trace, i.Rest, i.Whole},
		func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%s: %s, path records of %s (%s) by %s, state %d\n", quoteFile(name), size(i.Whole), count(i.Ports, "port"),
				count(i.LIDs, "LID"), fabric.Escape(i.Origin), i.State)
			_, _ = fmt.Fprintf(w, "  ports, LIDs and other tables  %s\n", size(i.Tables))
			_, _ = fmt.Fprintf(w, "  records                       %s: %s of sources, %s of paths\n", size(i.Records), count(i.Rows, "row"), count(i.Classes, "kind"))
			if i.HasTrace {
				_, _ = fmt.Fprintf(w, "  traces                        %s\n", size(i.Trace))
			} else {
				_, _ = fmt.Fprintln(w, "  traces                        none")
			}
			_, _ = fmt.Fprintf(w, "  checksums and older states    %s\n", size(i.Rest))
		})
}

// size is a number of bytes for people.
func size(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	if n < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.2f MB", float64(n)/1e6)
}

// pathsView is the database that a question goes to. Without one it is built from
// the tables of the picture.
func (c *call) pathsView() (v *pathdb.View, done func(), err error) {
	done = func() {}
	if name := c.Option("file", ""); name != "" {
		db, err := pathdb.Open(name)
		if err != nil {
			return nil, done, err
		}
		return db.View(), func() { _ = db.Close() }, nil
	}
	if db, _ := c.session.Paths(); db != nil && c.Option("of", "") == "" {
		return db.View(), done, nil
	}
	image, rep, err := c.session.BuildPaths(c.ctx, session.Kind(c.Option("of", "")), true, nil, false)
	if err != nil {
		return nil, done, err
	}
	c.out.note("path records of %s", rep.Title)
	db, err := pathdb.Parse(image)
	if err != nil {
		return nil, done, err
	}
	return db.View(), done, nil
}

// pathsPort is a port of a database by its address, GID or name, and its LID.
func (c *call) pathsPort(v *pathdb.View, text string) (pathdb.PortIndex, uint16, error) {
	if gid, err := mad.ParseGID(strings.TrimPrefix(text, "gid:")); err == nil {
		if i, ok := v.ByGID(gid); ok {
			return i, 0, nil
		}
		return 0, 0, fmt.Errorf("no port of the database has the GID %s", text)
	}
	if number, ok := strings.CutPrefix(text, "lid:"); ok {
		lid, err := strconv.ParseUint(number, 0, 16)
		if err != nil {
			return 0, 0, fmt.Errorf("%q is no LID", number)
		}
		i, ok := v.ByLID(uint16(lid))
		if !ok {
			return 0, 0, fmt.Errorf("no port of the database has LID %d", lid)
		}
		return i, uint16(lid), nil
	}
	if number, ok := strings.CutPrefix(text, "guid:"); ok {
		guid, err := strconv.ParseUint(number, 0, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("%q is no GUID", number)
		}
		if i, ok := v.ByGUID(guid); ok {
			return i, 0, nil
		}
	}
	st := c.session.State()
	p, err := st.Of(session.Kind(c.Option("of", "")))
	if err != nil {
		return 0, 0, err
	}
	place, err := session.Resolve(p.Fabric, text)
	if err != nil {
		return 0, 0, err
	}
	guid := p.Fabric.Ports[p.Fabric.EndPortOf(place.Port)].GUID
	i, ok := v.ByGUID(guid)
	if !ok {
		return 0, 0, fmt.Errorf("the database has no port 0x%016x", guid)
	}
	return i, 0, nil
}

type recordRow struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	SLID     uint16   `json:"slid"`
	DLID     uint16   `json:"dlid"`
	SL       uint8    `json:"sl"`
	MTU      string   `json:"mtu"`
	Gbps     float64  `json:"gbps"`
	Rate     uint8    `json:"rate"`
	LifeTime uint8    `json:"life_time"`
	PKey     string   `json:"pkey"`
	Hops     uint8    `json:"hops"`
	Way      []string `json:"way,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func (c *call) pathsQuery() error {
	want, err := c.wantedPath()
	if err != nil {
		return err
	}
	v, done, err := c.pathsView()
	if err != nil {
		return err
	}
	defer done()
	from, _, err := c.pathsPort(v, c.Arg(0))
	if err != nil {
		return err
	}
	var to []pathdb.PortIndex
	only := uint16(0)
	if c.Arg(1) == allWord {
		for i := range v.Ports() {
			if i != from {
				to = append(to, i)
			}
		}
	} else {
		i, lid, err := c.pathsPort(v, c.Arg(1))
		if err != nil {
			return err
		}
		to, only = []pathdb.PortIndex{i}, lid
	}
	columns := []string{"FROM", "TO", "SL", "MTU", "RATE", "P_KEY", "LIFE", "HOPS"}
	if c.Flag("way") {
		columns = append(columns, "WAY")
	}
	t := c.table(columns...)
	var records []pathdb.Record
	for _, i := range to {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		records, err = v.Paths(records[:0], from, i, want)
		if err != nil {
			if len(to) == 1 {
				return fmt.Errorf("%s to %s: %w", c.Arg(0), c.Arg(1), err)
			}
			row := recordRow{From: c.portOf(v, from, 0), To: c.portOf(v, i, 0), Error: err.Error()}
			if err := t.row(row, row.From, row.To, "", "", "", "", "", row.Error); err != nil {
				return err
			}
			continue
		}
		for _, r := range records {
			if only != 0 && r.DLID != only {
				continue
			}
			if err := c.recordRow(t, v, from, i, r); err != nil {
				return err
			}
		}
	}
	return t.flush()
}

func (c *call) wantedPath() (want pathdb.Want, err error) {
	if text := c.Option("pkey", ""); text != "" {
		key, err := strconv.ParseUint(text, 0, 16)
		if err != nil || mad.PKey(key).Partition() == 0 {
			return want, fmt.Errorf("pkey=%s: expected 0x0001 to 0xffff", text)
		}
		want.PKey = uint16(key)
	}
	if sl := c.Int("sl", -1); sl > 15 || sl < 0 && c.Option("sl", "") != "" {
		return want, fmt.Errorf("sl=%d: expected 0 to 15", sl)
	} else if sl >= 0 {
		want.SL = uint8(sl) + 1
	}
	return want, nil
}

func (c *call) recordRow(t *table, v *pathdb.View, from, to pathdb.PortIndex, r pathdb.Record) error {
	row := recordRow{
		From: c.portOf(v, from, r.SLID), To: c.portOf(v, to, r.DLID), SLID: r.SLID, DLID: r.DLID, SL: r.SL, MTU: unlimited(r.MTU, mad.MTU(r.MTU)),
		Gbps: sa.Rate(r.Rate).Gbps(), Rate: r.Rate, LifeTime: r.LifeTime, PKey: fmt.Sprintf("0x%04x", r.PKey), Hops: r.Hops,
	}
	cells := []any{row.From, row.To, row.SL, row.MTU, unlimited(r.Rate, fmt.Sprintf("%g Gb/s", row.Gbps)), row.PKey, row.LifeTime, row.Hops}
	if c.Flag("way") {
		hops, err := v.Way(nil, r.SLID, r.DLID)
		if err != nil {
			return err
		}
		for _, h := range hops {
			row.Way = append(row.Way, fmt.Sprintf("%s/%d", c.switchOf(h.GUID), h.Out))
		}
		cells = append(cells, strings.Join(row.Way, " "))
	}
	return t.row(row, cells...)
}

// unlimited is a code for people, "-" where nothing on the way says anything.
func unlimited(code uint8, is any) string {
	if code == 0 {
		return "-"
	}
	return fmt.Sprint(is)
}

// portOf names a port: as the session's subnet does where it knows it, else by GUID.
func (c *call) portOf(v *pathdb.View, i pathdb.PortIndex, lid uint16) string {
	p := v.Port(i)
	name := fmt.Sprintf("0x%016x", p.GUID)
	st := c.session.State()
	if live, err := st.Of(""); err == nil {
		if port := live.Fabric.PortByGUID(p.GUID); port != fabric.None {
			name = live.Fabric.PortName(port)
		}
	}
	if lid == 0 {
		return name
	}
	return fmt.Sprintf("%s lid:%d", name, lid)
}

func (c *call) switchOf(guid uint64) string {
	st := c.session.State()
	if live, err := st.Of(""); err == nil {
		if n := live.Fabric.NodeByGUID(guid); n != fabric.None {
			return live.Fabric.NodeName(n)
		}
	}
	return fmt.Sprintf("0x%016x", guid)
}

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
	var ends []int32
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

func (c *call) pathsDelta() error {
	old, err := pathdb.Open(c.Arg(0))
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }()
	fresh, err := pathdb.Open(c.Arg(1))
	if err != nil {
		return err
	}
	defer func() { _ = fresh.Close() }()
	delta, err := pathdb.Delta(old.View(), fresh.View())
	if err != nil {
		return fmt.Errorf("%w (paths build FILE like=%s keeps the order where ports have only gone)", err, quoteFile(c.Arg(0)))
	}
	if err := pathdb.WriteFile(c.Arg(2), delta); err != nil {
		return err
	}
	whole := old.View().Info().Whole
	return c.out.answer(struct {
		File  string `json:"file"`
		Bytes int    `json:"bytes"`
		Of    int    `json:"of"`
	}{c.Arg(2), len(delta), whole}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s: %s, %.2f %% of the database\n", quoteFile(c.Arg(2)), size(len(delta)), 100*float64(len(delta))/float64(whole))
	})
}

func (c *call) pathsApply() error {
	delta, err := os.ReadFile(c.Arg(1))
	if err != nil {
		return err
	}
	if err := pathdb.Apply(c.Arg(0), delta); err != nil {
		return err
	}
	db, err := pathdb.Open(c.Arg(0))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return c.pathsInfo(c.Arg(0), db.View().Info())
}

func (c *call) pathsACM() error {
	v, done, err := c.pathsView()
	if err != nil {
		return err
	}
	defer done()
	sources := func(pathdb.PortIndex) bool { return true }
	if host := c.Option("for", ""); host != "" {
		only, _, err := c.pathsPort(v, host)
		if err != nil {
			return err
		}
		sources = func(i pathdb.PortIndex) bool { return i == only }
	}
	path := c.Arg(0)
	write := func(w io.Writer) error { return session.WritePathsForACM(c.ctx, w, v, sources) }
	if path == "-" {
		return write(c.out.W)
	}
	if err := session.WriteFile(path, write); err != nil {
		return err
	}
	return c.out.answer(struct {
		File string `json:"file"`
	}{path}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s written; in ibacm_opts.cfg: route_preload opensm_full_v1, route_data_file %s\n", quoteFile(path), quoteFile(path))
	})
}
