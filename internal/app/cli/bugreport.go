// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/app/bugreport"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/doctor"
	"example.org/ibconsole/shell/session/source"
)

// bugReport writes a bug report: facts about the program, this machine and the subnets at the given sources.
func (o *options) bugReport() int {
	ctx, stop := signals.Context()
	defer stop()
	config, err := o.config(ctx)
	if err != nil {
		return o.misconfigured(err)
	}
	r := bugreport.Report{Version: version(), Words: append([]string{o.report}, o.sources...)}
	if len(o.sources) == 0 {
		r.Findings = doctor.Machine(ctx, source.Source{Kind: source.Umad}, o.rights.held)
	} else {
		sources, err := source.ParseAll(o.sources, config.Sets)
		if err != nil {
			return o.misused(err)
		}
		if r.Findings, err = o.diagnose(ctx, &config, sources); err != nil {
			return o.failed(err)
		}
		for _, n := range sources {
			opt := session.Options{Fast: o.fast, Held: o.rights.held}
			if opt.Keys, err = o.keys(ctx, n.Source, config.MKeys); err != nil {
				return o.failed(err)
			}
			r.Subnets = append(r.Subnets, facts(ctx, n.Source, opt))
			r.Words = append(r.Words, n.Name, n.Source.String())
		}
	}
	if o.report == "-" {
		err = r.Write(o.out)
	} else if err = files.Write(o.report, r.Write); err == nil {
		_, _ = fmt.Fprintf(o.out, "%s: check its contents before you send it\n", fabric.Escape(o.report))
	}
	if err != nil {
		return o.failed(err)
	}
	return exitDone
}
