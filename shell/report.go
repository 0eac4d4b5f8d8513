// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/files"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/report"
)

func reportCommands() []command {
	var formats []lang.Spec
	for _, f := range report.Formats() {
		formats = append(formats, lang.Spec{Name: f.Name, Summary: f.Summary, Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}})
	}
	return []command{{lang.Spec{Name: "report", Summary: "write a report of the subnet and its routing to a file (- for standard output)",
		Options: []lang.Option{ofOption()}, Subcommands: formats}, runReport}}
}

func runReport(c *call) error {
	st, p, err := c.of()
	if err != nil {
		return err
	}
	for _, f := range report.Formats() {
		if f.Name != c.Spec.Name {
			continue
		}
		t := p.Tables
		if f.Topology {
			t = nil
		}
		r, err := report.New(c.ctx, c.session.Analysis(), p.Fabric, t, st.Title(p), fabric.Escape(st.Source.String()), nil)
		if err != nil {
			return err
		}
		path := c.Arg(0)
		if path == "-" {
			if f.Name == "json" && c.out.JSON {
				return c.oneLine(func(w io.Writer) error { return f.Write(r, w) })
			}
			return c.raw(func(w io.Writer) error { return f.Write(r, w) })
		}
		if err := files.Write(path, func(w io.Writer) error { return f.Write(r, w) }); err != nil {
			return err
		}
		return c.out.answer(struct {
			Format string `json:"format"`
			File   string `json:"file"`
			Of     string `json:"of"`
		}{f.Name, path, r.Title}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%s report of %s written to %s\n", f.Name, r.Title, quoteFile(path))
		})
	}
	return fmt.Errorf("no form is called %q", c.Spec.Name)
}

// oneLine answers with what is JSON already.
func (c *call) oneLine(write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return c.out.answer(json.RawMessage(b.Bytes()), nil)
}
