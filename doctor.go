// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/session"
)

// doctor says which sources of a subnet there are on this machine, and what
// keeps those from being used that are not.
func (o *options) doctor() int {
	ctx, stop := untilSignal()
	defer stop()
	findings := umad.Diagnose(ctx, "")
	if o.json {
		lines := json.NewEncoder(o.out)
		for _, f := range findings {
			if err := lines.Encode(f); err != nil {
				return o.failed(err)
			}
		}
		return exitDone
	}
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(o.out, format+"\n", args...) }
	for _, f := range findings {
		where := f.Port
		if where == "" {
			where = string(session.SourceUmad)
		}
		p("%-5s  %s: %s", f.Level, fabric.Escape(where), fabric.Escape(f.Text))
		if f.Remedy != "" {
			p("       - %s", fabric.Escape(f.Remedy))
		}
	}
	source, _ := session.DefaultSource()
	p("%-5s  ibsim: -s ibsim[:NAME] talks to an ibsim that runs with -s under that IBSIM_SOCKNAME", umad.Fine)
	p("%-5s  sim: always there: -s sim:FILE or -s sim:KIND:ARGS", umad.Fine)
	p("%-5s  file: always there: -s file:FILE, an ibnetdiscover or ibsim file or opensm-subnet.lst", umad.Fine)
	p("without -s: %s", fabric.Escape(source))
	return exitDone
}
