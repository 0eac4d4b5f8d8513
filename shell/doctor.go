// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"

	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/session/doctor"
)

func doctorCommands() []Spec {
	return []Spec{{Name: "doctor", Summary: "what the source of this session lacks, and what to do about it: adapters, links, subnet manager, administration",
		Help: "It fails where it finds a fault; notes alone are no failure.", Run: runDoctor, Bare: true}}
}

func runDoctor(c *call) error { return Findings(c.out, doctor.Session(c.ctx, c.session)) }

// Findings prints findings, whose texts are escaped, in JSON an object each. It fails where one is a fault.
func Findings(out *Output, findings []umad.Finding) error {
	faults := 0
	for i := range findings {
		f := &findings[i]
		if f.Level == umad.Fault {
			faults++
		}
		if err := out.Answer(finding{f}); err != nil {
			return err
		}
	}
	if faults > 0 {
		return found("%s of %s", count(faults, "fault"), count(len(findings), "finding"))
	}
	return nil
}

type finding struct{ *umad.Finding }

func (f finding) Text(w io.Writer) {
	where := cmp.Or(f.Port, "umad")
	_, _ = fmt.Fprintf(w, "%-5s  %s: %s\n", f.Level, where, f.Finding.Text)
	if f.Remedy != "" {
		_, _ = fmt.Fprintf(w, "       - %s\n", f.Remedy)
	}
}
