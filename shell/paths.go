// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func pathsCommands() []Spec {
	db := lang.Option{Name: "file", Kind: lang.KindFile, Summary: "ask this database, not the one that was loaded"}
	file := lang.Arg{Name: "FILE", Kind: lang.KindFile}
	return []Spec{{Name: "paths", Summary: "path records of all pairs in one file: build, ask, compare, change",
		Help: "Without load paths FILE or file=FILE questions are answered from the tables of the picture.",
		Subcommands: []Spec{
			{Name: "build", Summary: "write the path records of a routing", Run: (*call).pathsBuild, Args: []lang.Arg{file}, Options: []lang.Option{feature.OfOption(),
				{Name: "trace", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "with the switches of the paths (yes by default)"},
				{Name: "sa", Kind: lang.KindFlag, Summary: "ask the subnet administration for the service levels of partitions, and the switches for P_Keys"},
				{Name: "like", Kind: lang.KindFile, Summary: "keep the ports and the order of this database, so that paths delta leads from it to the new one"}}},
			{Name: "info", Summary: "what a database has, and what its parts take", Run: (*call).pathsShow, Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}}},
			{Name: "query", Summary: "the records from SRC to DST, or to all", Run: (*call).pathsQuery,
				Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST|all", Kind: lang.KindPlace, Words: []string{allWord}}},
				Options: append(feature.AskedOptions(), feature.OfOption(), db,
					lang.Option{Name: "path", Aliases: []string{"way"}, Kind: lang.KindFlag, Summary: "the switches of the path, too"})},
			{Name: "verify", Summary: "compare with the tables, or live with the running subnet administration", Run: (*call).pathsVerify,
				Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{liveWord}, Optional: true}},
				Options: []lang.Option{feature.OfOption(), db,
					{Name: "sample", Kind: lang.KindInt, Summary: "how many pairs, drawn at random (100000, live 500)"},
					{Name: "seed", Kind: lang.KindInt, Summary: "of the draw"}, feature.StrictOption()}},
			{Name: "delta", Summary: "write what makes database OLD the paths of NEW", Run: (*call).pathsDelta,
				Args: []lang.Arg{{Name: "OLD", Kind: lang.KindFile}, {Name: "NEW", Kind: lang.KindFile}, file}},
			{Name: "apply", Summary: "change a database by a difference; who reads it sees the state before or the one after", Run: (*call).pathsApply,
				Args: []lang.Arg{file, {Name: "DELTA", Kind: lang.KindFile}}},
			pathsFollowCommand(),
			{Name: "acm", Summary: "write the records for ibacm (route_prov opensm_full_v1)", Run: (*call).pathsACM, Args: []lang.Arg{file}, Options: []lang.Option{feature.OfOption(), db,
				{Name: "for", Kind: lang.KindPlace, Summary: "only those of this host; the file of all hosts has a line for each pair"}}},
		}}}
}

func (c *call) pathsBuild() error {
	if c.Arg(0) == "-" {
		return files.ErrStream
	}
	var like *pathdb.View
	if name := c.Option("like", ""); name != "" {
		db, err := pathdb.Open(c.ctx, name)
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
	if rep.UnknownSLs {
		c.out.warn("%v: the records have SL 0", session.ErrUnreadSLs)
	}
	c.warnNoRecords(&rep)
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
		return c.pathsInfoOf(name)
	}
	db, name := c.session.Paths()
	if db == nil {
		return errors.New("no path database is loaded (try: paths info FILE, or load paths FILE)")
	}
	return c.pathsInfo(name, db.View().Info())
}

func (c *call) pathsInfoOf(file string) error {
	db, err := pathdb.Open(c.ctx, file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return c.pathsInfo(file, db.View().Info())
}

func (c *call) pathsInfo(name string, i pathdb.Info) error { return c.out.Answer(&pathsInfo{name, i}) }

type pathsInfo struct {
	File string `json:"file"`
	pathdb.Info
}

func (i *pathsInfo) Text(w io.Writer) {
	trace := "none"
	if i.HasTrace {
		trace = size(i.Trace)
	}
	_, _ = fmt.Fprintf(w, "%s: %s, path records of %s (%s) by %s, state %d\n", quoteFile(i.File), size(i.Whole), count(i.Ports, "port"),
		count(i.LIDs, "LID"), fabric.Escape(i.Origin), i.State)
	_, _ = fmt.Fprintf(w, "  ports, LIDs and other tables  %s\n", size(i.Tables))
	_, _ = fmt.Fprintf(w, "  records                       %s: %s of sources, %s of paths\n", size(i.Records), count(i.Rows, "row"), count(i.Classes, "kind"))
	_, _ = fmt.Fprintf(w, "  traces                        %s\n", trace)
	_, _ = fmt.Fprintf(w, "  checksums and older states    %s\n", size(i.Rest))
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

func (c *call) pathsDelta() error {
	if c.Arg(2) == "-" {
		return files.ErrStream
	}
	old, err := pathdb.Open(c.ctx, c.Arg(0))
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }()
	fresh, err := pathdb.Open(c.ctx, c.Arg(1))
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
	return c.say(pathsDelta{c.Arg(2), len(delta), whole}, "%s: %s, %.2f %% of the database", quoteFile(c.Arg(2)), size(len(delta)), 100*float64(len(delta))/float64(whole))
}

type pathsDelta struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
	Of    int    `json:"of"`
}

func (c *call) pathsApply() error {
	delta, err := files.All(c.ctx, c.Arg(1), files.Delta)
	if err != nil {
		return err
	}
	if err := pathdb.Apply(c.ctx, c.Arg(0), delta); err != nil {
		return err
	}
	return c.pathsInfoOf(c.Arg(0))
}

func (c *call) pathsACM() error {
	v, done, err := c.pathsView()
	if err != nil {
		return err
	}
	defer done()
	if v.unknownSLs {
		c.out.warn("%v: the records have SL 0", session.ErrUnreadSLs)
	}
	sources := func(pathdb.PortIndex) bool { return true }
	if host := c.Option("for", ""); host != "" {
		only, _, err := c.pathsPort(v.View, host)
		if err != nil {
			return err
		}
		sources = func(i pathdb.PortIndex) bool { return i == only }
	}
	path := c.Arg(0)
	write := func(w io.Writer) error { return session.WritePathsForACM(c.ctx, w, v.View, sources) }
	if path == "-" {
		return c.raw(write)
	}
	if err := files.Write(path, write); err != nil {
		return err
	}
	return c.say(object{"file": path}, "%s written; in ibacm_opts.cfg: route_preload opensm_full_v1, route_data_file %s", quoteFile(path), quoteFile(path))
}
