// SPDX-License-Identifier: Apache-2.0

// Package reports writes reports about the subnet and its changes.
package reports

import (
	"errors"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/report"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
)

// Feature has the commands report.
var Feature = feature.Feature{Name: "reports", Commands: commands()}

func commands() []feature.Command {
	all := []feature.Command{
		{Path: "report", Group: feature.GroupFiles, Summary: "Write a report of the subnet to a file",
			Help: "The file - is standard output."},
		morningCommand, incidentCommand, command(report.Format{Name: jsonWord, Summary: "Write all figures as JSON"}),
	}
	for _, f := range report.Formats() {
		all = append(all, command(f))
	}
	return all
}

// jsonWord is the name of the format that consists of the answer in JSON.
const jsonWord = "json"

// command returns the command that writes a report in a format.
func command(f report.Format) feature.Command {
	decl := feature.OneLine[*written]("report "+f.Name, "the file", "{format} report of {title} written to {file}")
	c := feature.Command{
		Path: "report " + f.Name, Summary: f.Summary,
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Written: true}},
		Options: []lang.Option{
			feature.OfOption(), {
				Name: "path", Kind: lang.KindPlace, Value: "A,B", List: true,
				Summary: "draw the path from A to B, in html and svg",
			},
		},
		Examples: []string{"report " + f.Name + " routing." + f.Name, "report " + f.Name + " live." + f.Name +
			" of=live"},
		Answers: []answer.Declared{decl},
		Run:     func(c *feature.Call) error { return write(c, &f, decl) },
	}
	if strings.HasPrefix(f.Name, slurmPrefix) {
		c.Help = slurmHelp
		c.Options = append(c.Options[:1:1], lang.Option{
			Name: "adapters", Kind: lang.KindText, Value: "PATTERN,...",
			Summary: "only these adapters, by description or node name; * and ? are wildcards",
		})
		c.Examples = append(c.Examples, "report "+f.Name+" - adapters='node-0*'")
	}
	if f.Name == jsonWord {
		c.Answers, c.Examples = append(c.Answers, &figuresDecl), append(c.Examples, "report json -")
	}
	return c
}

// slurmPrefix begins the names of the formats of Slurm.
const slurmPrefix = "slurm-"

const slurmHelp = "The nodes are named after the first word of the descriptions of their adapters. A node with\n" +
	"several adapters belongs to the leaf of the first one that adapters= selects, for example adapters='*mlx5_0'\n" +
	"for one rail of several, or adapters='gpu*' without storage nodes.\n"

// written describes a written report.
type written struct {
	Format string `key:"format" name:"format"`
	File   string `key:"file" name:"file"`
	Title  string `key:"title" name:"title" help:"the state or subnet of the report"`
}

func write(c *feature.Call, f *report.Format, decl *answer.Decl[*written]) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	t := p.Tables
	if f.Topology {
		t = nil
	}
	r, err := report.New(c.Ctx, c.Session.Analysis(), p.Fabric, t, st.Title(p), fabric.Escape(st.Source.String()), nil)
	if err != nil {
		return err
	}
	whole, failed := p.Fabric, map[fabric.Link]bool(nil)
	if p.Kind != session.Live && p.Kind != session.Base && st.WhatIf != nil {
		whole, failed = st.Whole(), st.FailedLinks()
	}
	traced, err := drawnPath(c, p)
	if err != nil {
		return err
	}
	r.Draw(whole, failed, traced)
	if adapters := c.Option("adapters", ""); adapters != "" {
		r.Adapters = strings.Split(adapters, ",")
	}
	b := st.Basis(p, session.NeedLinks|session.NeedTables|session.NeedFile)
	if strings.HasPrefix(f.Name, slurmPrefix) {
		tree, err := slurm.TreeOf(p.Fabric, r.Adapters...)
		if err != nil {
			return err
		}
		b.Warnings = append(b.Warnings, tree.Notes...)
	}
	render := func(w io.Writer) error { return f.Write(r, w) }
	if f.Name == jsonWord {
		a := figuresDecl.Answer(b, &figures{r, p.Fabric})
		if c.Arg(0) == "-" && c.Output.File() == nil {
			return c.Answer(a)
		}
		render = func(w io.Writer) error { return a.JSON(w, 1) }
	}
	return save(c, c.Arg(0), render, decl.Answer(b, &written{f.Name, c.Arg(0), r.Title}))
}

// save writes a report to a file, and then writes the answer a.
func save(c *feature.Call, path string, render func(io.Writer) error, a *answer.Answer) error {
	safe := func(w io.Writer) error { return plain.Text(w, render) }
	if path == "-" {
		return c.Raw(safe)
	}
	if err := files.Write(path, safe); err != nil {
		return err
	}
	return c.Answer(a)
}

// drawnPath returns the output ports along the path that the option path=A,B selects.
func drawnPath(c *feature.Call, p *session.Picture) ([]fabric.PortIndex, error) {
	ends := c.Option("path", "")
	if ends == "" {
		return nil, nil
	}
	if p.Tables == nil {
		return nil, errors.New("the state has no tables; hint: run 'route'")
	}
	pair, err := feature.PairWithComma(p.Fabric, ends)
	if err != nil {
		return nil, err
	}
	if err := pairs.Addressed(p.Fabric, pair); err != nil {
		return nil, err
	}
	var ports []fabric.PortIndex
	for _, h := range pair.Trace(p.Tables).Hops {
		if h.Out != fabric.None {
			ports = append(ports, h.Out)
		}
	}
	return ports, nil
}
