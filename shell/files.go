// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/files"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func fileCommands() []command {
	var dumps, loads []lang.Spec
	for _, d := range session.Dumps {
		file := []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}
		dumps = append(dumps, lang.Spec{Name: d.Kind, Summary: "write " + d.Summary, Args: file})
		if !d.WriteOnly {
			loads = append(loads, lang.Spec{Name: d.Kind, Summary: "read " + d.Summary, Args: file, Options: loadOptions(d.Kind)})
		}
	}
	dumps, loads = append(dumps, guidedSpec("write")), append(loads, guidedSpec("read"))
	var kinds []lang.Spec
	for _, k := range gen.Kinds() {
		var named []lang.Option
		for _, name := range k.Params() {
			named = append(named, lang.Option{Name: name, Kind: lang.KindInt})
		}
		kinds = append(kinds, lang.Spec{Name: k.Name, Summary: k.Usage, Help: k.Help, Options: named,
			Args: []lang.Arg{{Name: "ARGS FILE", Kind: lang.KindFile, Repeat: true}}})
	}
	return []command{
		{lang.Spec{Name: "dump", Summary: "write routes or the topology to a file (- for standard output)",
			Options: []lang.Option{ofOption()}, Subcommands: dumps}, runDump},
		{lang.Spec{Name: "load", Summary: "read routes, which are staged, or a topology, which the paper starts from", Subcommands: loads}, runLoad},
		{lang.Spec{Name: "gen", Summary: "generate a topology and write it as an ibsim net", Subcommands: kinds}, runGen},
	}
}

func runDump(c *call) error {
	if c.Spec.Name == guidedWord {
		return c.guide(DumpFlow(c.session))
	}
	c.noteFile()
	kind, path := c.Spec.Name, c.Arg(0)
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
	return c.out.answer(struct {
		Kind string `json:"kind"`
		File string `json:"file"`
		Of   string `json:"of"`
	}{kind, path, title}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s of %s written to %s\n", kind, title, quoteFile(path))
	})
}

func runLoad(c *call) error {
	if c.Spec.Name == guidedWord {
		return c.guide(LoadFlow(c.ctx, c.session))
	}
	rep, err := c.session.Load(c.ctx, c.Spec.Name, c.Arg(0), session.LoadOptions{Keep: c.Option("reroute", "") == "no", AsIbsim: c.Option("as", "") == "ibsim"})
	if err != nil {
		return err
	}
	if rep.Routing != nil {
		return c.showRouting(&rep)
	}
	if rep.Paths != nil {
		return c.pathsInfo(c.Arg(0), *rep.Paths)
	}
	answer := struct {
		Kind     string `json:"kind"`
		File     string `json:"file"`
		Switches int    `json:"switches"`
		Entries  int    `json:"entries"`
		Remapped int    `json:"remapped,omitempty"`
		Option   string `json:"option,omitempty"`
		Ignored  string `json:"ignored,omitempty"`
		Groups   int    `json:"groups,omitempty"`
		// Forgotten counts the failures on paper that a topology took the place of.
		Forgotten int      `json:"forgotten,omitempty"`
		Skipped   []string `json:"skipped,omitempty"`
		*lostAnswer
	}{c.Spec.Name, c.Arg(0), rep.Switches, rep.Entries, rep.Remapped, rep.Option, rep.Ignored, rep.Groups, rep.Forgotten, rep.Notes, newLost(rep.Lost)}
	return c.out.answer(answer, func(w io.Writer) {
		if c.Spec.Name == "groups" {
			_, _ = fmt.Fprintf(w, "%s with %s taken from %s; route makes their tables\n", count(rep.Groups, "multicast group"), count(rep.Entries, "member"), quoteFile(c.Arg(0)))
		} else if rep.Ignored != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", quoteFile(c.Arg(0)), rep.Ignored)
		} else if rep.Over != "" {
			_, _ = fmt.Fprintf(w, "loaded %s from %s over the tables that were there; staged, not written\n", rep.Over, quoteFile(c.Arg(0)))
		} else if rep.Option != "" {
			st := c.session.State()
			_, _ = fmt.Fprintf(w, "engine %s routes with %s=%s from now on\n", st.Settings.String(), rep.Option, quoteFile(c.Arg(0)))
		} else if rep.Topology {
			_, _ = fmt.Fprintf(w, "the paper starts from %s now: %s, %s (restore all goes back to the live subnet)\n",
				quoteFile(c.Arg(0)), count(rep.Switches, "switch"), count(rep.Links, "link"))
			if n := rep.Forgotten; n > 0 {
				_, _ = fmt.Fprintf(w, "  what was on paper before is forgotten: %s\n", count(n, "failure"))
			}
			if c.session.State().Stale {
				_, _ = fmt.Fprintln(w, "  the staged tables are stale: they were made for another subnet")
			}
		} else {
			_, _ = fmt.Fprintf(w, "loaded %s on %s from %s", count(rep.Entries, "entry"), count(rep.Switches, "switch"), quoteFile(c.Arg(0)))
			if rep.Remapped > 0 {
				_, _ = fmt.Fprintf(w, ", %d LIDs remapped by port GUID", rep.Remapped)
			}
			_, _ = fmt.Fprint(w, "; staged, not written\n")
		}
		answer.lostAnswer.text(w)
		list(w, "note", rep.Notes)
	})
}

func runGen(c *call) error {
	args := c.Args
	if len(args) < 1 {
		return c.Misused("the file is missing")
	}
	path, args := args[len(args)-1], args[:len(args)-1]
	for name, value := range c.Options {
		args = append(args, name+"="+value)
	}
	f, err := gen.Parse(c.Spec.Name, args)
	if err != nil {
		return err
	}
	if path == "-" {
		return c.raw(func(w io.Writer) error { return gen.WriteNet(w, f) })
	}
	if err := files.Write(path, func(w io.Writer) error { return gen.WriteNet(w, f) }); err != nil {
		return err
	}
	answer := struct {
		File     string `json:"file"`
		Switches int    `json:"switches"`
		CAs      int    `json:"cas"`
		Links    int    `json:"links"`
	}{path, len(f.Switches), len(f.Nodes) - len(f.Switches), len(f.Links())}
	return c.out.answer(answer, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s %s: %s, %s, %s written to %s\n", c.Spec.Name, strings.Join(args, " "),
			count(answer.Switches, "switch"), count(answer.CAs, "channel adapter"), count(answer.Links, "link"), quoteFile(path))
	})
}
