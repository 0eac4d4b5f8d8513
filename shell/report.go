// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/report"
	"example.org/ibconsole/shell/session"
)

func reportCommands() []Spec {
	var formats []Spec
	for _, f := range report.Formats() {
		formats = append(formats, Spec{Name: f.Name, Summary: f.Summary, Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}, Run: onPicture(func(c *call, st *session.State, p *session.Picture) error { return c.report(st, p, &f) })})
	}
	return []Spec{{Name: "report", Summary: "write a report of the subnet and its routing to a file (- for standard output)",
		Options: []lang.Option{feature.OfOption(), {Name: "path", Kind: lang.KindPlace, Value: "A,B", List: true, Summary: "the path from one place to another, drawn in html and svg"}}, Subcommands: append(formats, morningCommand())}}
}

func (c *call) report(st *session.State, p *session.Picture, f *report.Format) error {
	t := p.Tables
	if f.Topology {
		t = nil
	}
	r, err := report.New(c.ctx, c.session.Analysis(), p.Fabric, t, st.Title(p), fabric.Escape(st.Source.String()), nil)
	if err != nil {
		return err
	}
	whole, failed := p.Fabric, map[fabric.Link]bool(nil)
	if p.Kind != session.Live && p.Kind != session.Base && st.WhatIf != nil {
		whole, failed = st.Whole(), st.FailedLinks()
	}
	traced, err := c.drawnPath(p)
	if err != nil {
		return err
	}
	r.Draw(whole, failed, traced)
	write := func(w io.Writer) error {
		return plain.Text(w, func(w io.Writer) error { return f.Write(r, w) })
	}
	path := c.Arg(0)
	if path == "-" {
		if f.Name == "json" && c.out.isJSON() {
			return c.oneLine(write)
		}
		return c.raw(write)
	}
	if err := files.Write(path, write); err != nil {
		return err
	}
	return c.say(reported{f.Name, path, r.Title}, "%s report of %s written to %s", f.Name, r.Title, quoteFile(path))
}

// drawnPath is the ports by which packets of the path leave that the option path names, A,B.
func (c *call) drawnPath(p *session.Picture) ([]fabric.PortIndex, error) {
	ends := c.Option("path", "")
	if ends == "" {
		return nil, nil
	}
	if p.Tables == nil {
		return nil, errors.New("there are no tables to follow the path by (try: route)")
	}
	pair, err := pairWithComma(p.Fabric, ends)
	if err != nil {
		return nil, err
	}
	var ports []fabric.PortIndex
	if err := session.Addressed(p.Fabric, pair); err != nil {
		return nil, err
	}
	for _, h := range pair.Trace(p.Tables).Hops {
		if h.Out != fabric.None {
			ports = append(ports, h.Out)
		}
	}
	return ports, nil
}

type reported struct {
	Format string `json:"format"`
	File   string `json:"file"`
	Of     string `json:"of"`
}

// oneLine answers with what is JSON already.
func (c *call) oneLine(write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return c.out.Answer(document{b.Bytes()})
}

type document struct{ json.RawMessage }

func (d document) Text(w io.Writer) { _, _ = w.Write(d.RawMessage) }
