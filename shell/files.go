// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func fileCommands() []Spec {
	var dumps, loads []Spec
	for _, d := range session.Dumps {
		file := []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}
		run := func(c *call) error { return c.dump(d.Kind) }
		if d.Folder() {
			file[0].Name, run = "FOLDER", (*call).dumpFolder
		}
		dumps = append(dumps, Spec{Name: d.Kind, Summary: "write " + d.Summary, Args: file, Run: run})
		if !d.WriteOnly && d.Kind != "paths" { // which is a feature's
			loads = append(loads, Spec{Name: d.Kind, Summary: "read " + d.Summary, Args: file, Options: loadOptions(d.Kind), Run: func(c *call) error { return c.load(d.Kind) }})
		}
	}
	dumps, loads = append(dumps, guidedSpec("write", func(c *call) *guided.Flow { return guided.Dump(c.session) })), append(loads, guidedSpec("read", func(c *call) *guided.Flow { return guided.Load(c.ctx, c.session) }))
	var kinds []Spec
	for _, k := range gen.Kinds() {
		var named []lang.Option
		for _, name := range k.Params() {
			named = append(named, lang.Option{Name: name, Kind: lang.KindInt})
		}
		for _, o := range gen.Common() {
			named = append(named, lang.Option{Name: o.Name, Kind: lang.KindWord, Words: o.Words, Summary: o.Help})
		}
		kinds = append(kinds, Spec{Name: k.Name, Summary: k.Usage, Help: k.Help, Options: named, Run: func(c *call) error { return c.generate(k.Name) },
			Args: []lang.Arg{{Name: "ARGS FILE", Kind: lang.KindFile, Repeat: true}}})
	}
	return []Spec{
		{Name: "dump", Summary: "write routes or the topology to a file (- for standard output)",
			Options: []lang.Option{feature.OfOption()}, Subcommands: dumps},
		{Name: "load", Summary: "read routes, which are staged, or a topology, which is laid over the live tables on paper", Subcommands: loads},
		{Name: "gen", Summary: "generate a topology and write it as an ibsim net", Subcommands: kinds},
	}
}

func (c *call) dump(kind string) error {
	c.noteFile()
	path := c.Arg(0)
	if path == "-" {
		return c.raw(func(w io.Writer) error {
			_, err := c.session.Dump(c.ctx, kind, session.Kind(c.Option("of", "")), w)
			return err
		})
	}
	var title string
	err := files.Write(path, func(w io.Writer) (err error) {
		title, err = c.session.Dump(c.ctx, kind, session.Kind(c.Option("of", "")), w)
		return err
	})
	if err != nil {
		return err
	}
	return c.say(dumped{Kind: kind, File: path, Of: title}, "%s of %s written to %s", kind, title, quoteFile(path))
}

// dumpFolder writes what ibdiagnet would leave.
func (c *call) dumpFolder() error {
	c.noteFile()
	folder := c.Arg(0)
	if folder == "-" {
		return c.Misused("a folder is not written to standard output; name one")
	}
	d, err := c.session.DumpFolder(c.ctx, folder, session.Kind(c.Option("of", "")))
	if err != nil {
		return err
	}
	return c.out.Answer(&dumpedFolder{dumped{Kind: "ibdiagnet", File: folder, Of: d.Title}, d.Names, d.Notes})
}

type dumped struct {
	Kind string `json:"kind"`
	File string `json:"file"`
	Of   string `json:"of"`
}

type dumpedFolder struct {
	dumped
	Files []string `json:"files"`
	Notes []string `json:"notes,omitempty"` // what the files do not hold
}

func (a *dumpedFolder) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s of %s written to %s\n", strings.Join(a.Files, ", "), a.Of, quoteFile(a.File))
	list(w, "note", a.Notes)
}

func (c *call) load(kind string) error {
	opt := session.LoadOptions{
		Keep: c.Option("reroute", "") == "no", AsIbsim: c.Option("as", "") == "ibsim",
		Strict: c.Option("strict", "") == "yes", Alone: c.Option("over", "") == "no",
	}
	rep, err := c.session.Load(c.ctx, kind, c.Arg(0), opt)
	if err != nil {
		return err
	}
	if rep.Routing != nil {
		return c.showRouting(kind, &rep)
	}
	st := c.session.State()
	return c.out.Answer(&loaded{kind, c.Arg(0), &rep, unreadOf(&rep.Unread), newLost(rep.Lost), st.Settings.String(), st.Stale})
}

// loaded is what loading a file says, but for saved routings.
type loaded struct {
	Kind string `json:"kind"`
	File string `json:"file"`
	*session.LoadReport
	unreadAnswer
	*lostAnswer
	engine string
	stale  bool
}

func (a *loaded) Text(w io.Writer) {
	rep, file := a.LoadReport, quoteFile(a.File)
	switch {
	case a.Kind == "groups":
		_, _ = fmt.Fprintf(w, "%s with %s taken from %s; route makes their tables\n", count(rep.Groups, "multicast group"), count(rep.Entries, "member"), file)
	case rep.Ignored != "":
		_, _ = fmt.Fprintf(w, "%s: %s\n", file, rep.Ignored)
	case rep.Over != "":
		_, _ = fmt.Fprintf(w, "loaded %s from %s over the tables that were there; staged, not written\n", rep.Over, file)
	case rep.Option != "":
		_, _ = fmt.Fprintf(w, "engine %s routes with %s=%s from now on\n", a.engine, rep.Option, file)
	case rep.Topology:
		_, _ = fmt.Fprintf(w, "the paper starts from %s now: %s, %s (restore all goes back to the live subnet)\n",
			file, count(rep.Switches, "switch"), count(rep.Links, "link"))
		if l := rep.Laid; l != nil {
			_, _ = fmt.Fprintf(w, "  laid over the tables of %s by GUID: %s of %d known, %d new, %d gone; %s stay, %s without one\n",
				l.Over, count(l.Kept, "switch"), rep.Switches, l.New, l.Gone, count(l.LIDs, "LID"), count(l.NoLIDs, "port"))
		}
		if n := rep.Forgotten; n > 0 {
			_, _ = fmt.Fprintf(w, "  what was on paper before is forgotten: %s\n", count(n, "failure"))
		}
		if a.stale {
			_, _ = fmt.Fprintln(w, "  the staged tables are stale: they were made for another subnet")
		}
	default:
		_, _ = fmt.Fprintf(w, "loaded %s on %s from %s", count(rep.Entries, "entry"), count(rep.Switches, "switch"), file)
		if rep.Remapped > 0 {
			_, _ = fmt.Fprintf(w, ", %d LIDs remapped by port GUID", rep.Remapped)
		}
		_, _ = fmt.Fprint(w, "; staged, not written\n")
	}
	a.lostAnswer.text(w)
	a.unreadAnswer.text(w)
	list(w, "note", rep.Notes)
}

func (c *call) generate(kind string) error {
	args := c.Args
	if len(args) < 1 {
		return c.Misused("the file is missing")
	}
	path, args := args[len(args)-1], args[:len(args)-1]
	for name, value := range c.Options {
		args = append(args, name+"="+value)
	}
	f, err := gen.Parse(kind, args)
	if err != nil {
		return err
	}
	if path == "-" {
		return c.raw(func(w io.Writer) error { return gen.WriteNet(w, f) })
	}
	if err := files.Write(path, func(w io.Writer) error { return gen.WriteNet(w, f) }); err != nil {
		return err
	}
	a := generated{path, len(f.Switches), len(f.Nodes) - len(f.Switches), len(f.Links())}
	return c.say(a, "%s %s: %s, %s, %s written to %s", kind, strings.Join(args, " "),
		count(a.Switches, "switch"), count(a.CAs, "channel adapter"), count(a.Links, "link"), quoteFile(path))
}

type generated struct {
	File     string `json:"file"`
	Switches int    `json:"switches"`
	CAs      int    `json:"cas"`
	Links    int    `json:"links"`
}
