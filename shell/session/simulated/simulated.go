// SPDX-License-Identifier: Apache-2.0

// Package simulated creates the simulated subnets that sources describe.
package simulated

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
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session/portgroups"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// Subnet is a simulated subnet with a connection to it.
type Subnet struct {
	mad.Transport
	Warnings   []string    // of reading its file
	Unread     unread.List // what of its file could not be read
	IsAdaptive bool        // its switches route adaptively
}

// Open creates the subnet of a source "FILE" or "KIND:ARGS" with options. The default engine routes the subnet, as a
// subnet manager would. The argument set determines the groups of adaptive routing. The connection is at the port of
// the subnet manager.
func Open(ctx context.Context, arg string, o formats.Options, set *settings.Settings) (*Subnet, error) {
	arg, isAdaptive, used, err := options(arg)
	if err != nil {
		return nil, err
	}
	file, err := read(ctx, arg, o)
	if err != nil {
		return nil, err
	}
	f, err := fabric.AssignLIDs(file.Fabric)
	if err != nil {
		return nil, err
	}
	hugepages.Heap(1200 * len(f.Ports)) // what simulating and sweeping take
	engine, err := engines.ByName(engines.Default)
	if err != nil {
		return nil, err
	}
	res, err := routing.Route(ctx, engine, f, routing.Options{})
	if err != nil {
		return nil, err
	}
	opt := sim.Options{Tables: res.Tables, Active: true}
	if isAdaptive {
		opt.Vendor = fabric.VendorMellanox
		if opt.Tables, _, err = portgroups.Always(ctx, set, opt.Tables); err != nil {
			return nil, err
		}
	}
	subnet := sim.New(f, opt)
	if used > 0 {
		bytes, err := Traffic(ctx, res.Tables, used)
		if err != nil {
			return nil, err
		}
		subnet.SetTraffic(bytes)
	}
	conn, err := subnet.Open(f.EndPortOf(f.SMPort))
	return &Subnet{conn, file.Warnings, file.Unread, isAdaptive}, err
}

// speed is the speed of links of a simulated subnet if none is given. In topologies for ibsim it is SDR, as in ibsim,
// because the releases in use support nothing faster than HDR.
const speed = fabric.NDR

// read returns the subnet of "FILE" or "KIND:ARGS". If a file has this name, it takes precedence.
func read(ctx context.Context, arg string, o formats.Options) (formats.Subnet, error) {
	kind, _, _ := strings.Cut(arg, ":")
	if slices.Contains(kindNames(), kind) {
		if _, err := files.Stat(ctx, arg); err != nil && ctx.Err() == nil {
			f, err := gen.ParseSpecAt(arg, speed)
			return formats.Subnet{Fabric: f}, err
		}
	}
	file, err := source.ReadFile(ctx, source.Sim, arg, o)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(arg, ":") {
		return file, fmt.Errorf("%q is not a file and not a kind of topology (%s)", kind,
			strings.Join(kindNames(), ", "))
	}
	return file, err
}

// kindNames returns the kinds of topologies that can be generated.
func kindNames() []string { return prose.Words(gen.Kinds(), func(k gen.Kind) string { return k.Name }) }

// options splits the argument of a source into its options and the rest.
//
// With adaptive=yes, the switches are of NVIDIA, hold groups of all ports on shortest up/down paths, and report these
// groups. With traffic=N%, all hosts send to all others. The result used is the utilization of the busiest link, from 0
// to 1.
func options(arg string) (rest string, isAdaptive bool, used float64, err error) {
	var kept []string
	for word := range strings.SplitSeq(arg, " ") {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "adaptive":
			isAdaptive = value == "yes"
			if !isAdaptive && value != "no" {
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
	return strings.Join(kept, " "), isAdaptive, used, nil
}

// Traffic returns the bytes per second that each port sends if all hosts send to all others over the paths of the
// tables. The rate is chosen so that the utilization of the busiest link is used (0 to 1).
func Traffic(ctx context.Context, t *fabric.Tables, used float64) ([]float64, error) {
	l, err := linkload.AllToAll(ctx, t, linkload.Options{})
	if err != nil {
		return nil, err
	}
	path := math.Inf(1) // bytes per second of each path
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
