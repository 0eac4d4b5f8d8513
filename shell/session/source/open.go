// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/routing/checks/linkload"
)

// OpenUmad opens the port of this machine that a source names, and fails where it carries no subnet management.
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

// Doctored adds to an error of a source where to look.
func Doctored(err error) error { return fmt.Errorf("%w"+SeeDoctor, err) }

// SeeDoctor ends errors of a source that cannot be opened.
const SeeDoctor = " (see: ibconsole doctor)"

// DialIbsim connects to an ibsim.
func DialIbsim(ctx context.Context, src Source) (mad.Transport, error) {
	o := ibsim.Options{Name: src.Arg}
	if host, port, ok := src.Remote(); ok {
		o = ibsim.Options{Host: host, Port: uint16(port)}
	}
	return ibsim.Dial(ctx, o)
}

// simulatedSpeed is that of the links of a simulated subnet that says none. Nets for ibsim have ibsim's own, SDR: the
// releases that are in use know nothing beyond HDR.
const simulatedSpeed = fabric.NDR

// Simulated makes the fabric that "FILE" or "KIND:ARGS" means. A file of that name comes first.
func Simulated(ctx context.Context, arg string, o formats.Options) (formats.Subnet, error) {
	kind, _, _ := strings.Cut(arg, ":")
	if slices.Contains(kindNames(), kind) {
		if _, err := files.Stat(ctx, arg); err != nil && ctx.Err() == nil {
			f, err := gen.ParseSpecAt(arg, simulatedSpeed)
			return formats.Subnet{Fabric: f}, err
		}
	}
	file, err := formats.ReadWith(ctx, arg, o)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(arg, ":") {
		return file, fmt.Errorf("%q is neither a file nor a kind of topology: %s", kind,
			strings.Join(kindNames(), ", "))
	}
	return file, err
}

func kindNames() []string { return prose.Words(gen.Kinds(), func(k gen.Kind) string { return k.Name }) }

// SimulatedWords takes words from what a sim source names. adaptive=yes: its switches then are NVIDIA's, hold groups of
// all ports on shortest up/down paths, and tell of them. traffic=N%: all hosts send to all others, so much that the
// busiest link is used by that part of its rate.
func SimulatedWords(arg string) (rest string, adapts bool, used float64, err error) {
	var kept []string
	for word := range strings.SplitSeq(arg, " ") {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "adaptive":
			adapts = value == "yes"
			if !adapts && value != "no" {
				return "", false, 0, fmt.Errorf("adaptive=%s: expected yes or no", value)
			}
		case "traffic":
			number, percent := strings.CutSuffix(value, "%")
			used, err = strconv.ParseFloat(number, 64)
			if err != nil || !percent || !(used >= 0 && used <= 100) {
				return "", false, 0, fmt.Errorf("traffic=%s: expected 0%% to 100%%", value)
			}
			used /= 100
		default:
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " "), adapts, used, nil
}

// Traffic is how many bytes leave by each port a second where all send to all, by the tables, and the busiest link is
// used by some part of its rate.
func Traffic(ctx context.Context, t *fabric.Tables, used float64) ([]float64, error) {
	l, err := linkload.AllToAll(ctx, t, linkload.Options{})
	if err != nil {
		return nil, err
	}
	path := math.Inf(1) // bytes a second of each path
	for i, paths := range l.Paths {
		if rate := t.Fabric.Ports[i].DataRate(); paths > 0 && rate > 0 {
			path = min(path, used*rate/float64(paths))
		}
	}
	bytes := make([]float64, len(l.Paths))
	if !math.IsInf(path, 1) {
		for i, paths := range l.Paths {
			bytes[i] = path * float64(paths)
		}
	}
	return bytes, nil
}
