// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/umad"
)

// OpenUmad opens a port of this machine. It returns an error if the port carries no subnet management packets.
func OpenUmad(arg string, held *umad.HeldDevices) (*umad.Transport, error) {
	sel, err := umad.ParseSelector(arg)
	if err != nil {
		return nil, err
	}
	ports, perr := umad.Ports("")
	p, err := sel.Choose(ports)
	if err != nil {
		return nil, Doctored(errors.Join(err, perr))
	}
	t, err := umad.Open("", p, umad.Options{Held: held})
	if err != nil {
		return nil, Doctored(err)
	}
	if err := t.Refused(mad.ClassSMPDirected); err != nil {
		return nil, Doctored(errors.Join(fmt.Errorf("%v, link layer %s, carries no subnet management packets: %w", p,
			p.LinkLayer, err), t.Close()))
	}
	return t, nil
}

// Doctored adds [SeeDoctor] to the error of a source.
func Doctored(err error) error { return fmt.Errorf("%w"+SeeDoctor, err) }

// SeeDoctor is the hint at the end of errors of sources that cannot be opened.
const SeeDoctor = " (see: ibconsole doctor)"

// DialIbsim connects to an ibsim.
func DialIbsim(ctx context.Context, src Source) (mad.Transport, error) {
	o := ibsim.Options{Name: src.Arg}
	if host, port, ok := src.Remote(); ok {
		o = ibsim.Options{Host: host, Port: uint16(port)}
	}
	return ibsim.Dial(ctx, o)
}
