// SPDX-License-Identifier: Apache-2.0

// Package simulated creates the simulated subnets that sources describe.
package simulated

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	arg, w, err := options(arg)
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
	load, err := newLoad(f, &w)
	if err != nil {
		return nil, err
	}
	opt := sim.Options{Tables: res.Tables, Active: true, SendBack: true}
	if len(load.Flows) > 0 {
		opt.Vendor, opt.Device, opt.Wide = fabric.VendorMellanox, quantum2, !w.narrow
	}
	if w.isAdaptive {
		opt.Vendor = fabric.VendorMellanox
		if opt.Tables, _, err = portgroups.Always(ctx, set, opt.Tables); err != nil {
			return nil, err
		}
	}
	subnet := sim.New(f, opt)
	if w.used > 0 {
		bytes, err := Traffic(ctx, res.Tables, w.used)
		if err != nil {
			return nil, err
		}
		subnet.SetTraffic(bytes)
	}
	if err := load.start(ctx, subnet, res.Tables); err != nil {
		return nil, err
	}
	conn, err := subnet.Open(f.EndPortOf(f.SMPort))
	return &Subnet{conn, file.Warnings, file.Unread, w.isAdaptive}, err
}

// quantum2 is the device ID of the switches of a subnet with flows. The rule of their XmitWait is known.
const quantum2 = 0xd2f2

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
