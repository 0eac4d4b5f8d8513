// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
)

// maxSubnets is the maximum number of subnets that a warning lists.
const maxSubnets = 8

// ReadFile reads FILE or FILE@PLACE. If the file contains several subnets, the place selects one of them: it becomes
// the port from which the subnet is seen. Without a place this is a port of the first node. ReadFile adds a warning
// that lists the other subnets. The argument kind of the source occurs in this warning.
func ReadFile(ctx context.Context, kind Kind, arg string, o formats.Options) (formats.Subnet, error) {
	path, seat, named := splitSeat(arg)
	if named && seat == "" {
		return formats.Subnet{}, fmt.Errorf("%s: no place after @", fabric.Escape(arg))
	}
	file, err := formats.ReadWith(ctx, path, o)
	if err != nil || file.Fabric == nil {
		return file, err
	}
	if seat != "" {
		at, err := places.Resolve(file.Fabric, seat)
		if err != nil {
			return file, fmt.Errorf("%s: %w", fabric.Escape(arg), err)
		}
		f, err := file.Fabric.WithSMPort(at.Port)
		if err != nil {
			return file, fmt.Errorf("%s: %w", fabric.Escape(arg), err)
		}
		if file.Tables != nil {
			t := *file.Tables
			t.Fabric = f
			file.Tables = &t
		}
		file.Fabric = f
	}
	if all := fabric.Subnets(file.Fabric); len(all) > 1 {
		file.Warnings = append(file.Warnings, severalSubnets(file.Fabric, all, string(kind)+":"+path))
	}
	return file, nil
}

// FileVersion identifies the version of the files that [ReadFile] reads, see [formats.Version].
func FileVersion(ctx context.Context, arg string) string {
	path, _, _ := splitSeat(arg)
	return formats.Version(ctx, path)
}

// splitSeat splits FILE@PLACE or FILE@PLACE,COUNTERS, and reports whether there is an @. The path is FILE or
// FILE,COUNTERS. A file whose name contains @ takes precedence, and a comma is part of the place unless files follow.
func splitSeat(arg string) (path, seat string, named bool) {
	i := strings.LastIndexByte(arg, '@')
	if i <= 0 {
		return arg, "", false
	}
	if _, err := os.Stat(arg); err == nil || !errors.Is(err, fs.ErrNotExist) ||
		!slices.ContainsFunc(strings.Split(arg, ","), isNoFile) {
		return arg, "", false
	}
	path, seat = arg[:i], arg[i+1:]
	for at := range seat {
		if rest := seat[at:]; seat[at] == ',' && !slices.ContainsFunc(strings.Split(rest[1:], ","), isNoFile) {
			return path + rest, seat[:at], true
		}
	}
	return path, seat, true
}

func isNoFile(name string) bool {
	_, path := formats.CutPort(name)
	_, err := os.Stat(path)
	return err != nil
}

// severalSubnets returns the warning about a file with several subnets. The first subnet is the one that is counted.
func severalSubnets(f *fabric.Fabric, all []fabric.Subnet, source string) string {
	sizes := func(s fabric.Subnet) string {
		return fmt.Sprintf("%s and %s", prose.Count(s.Switches, "switch"), prose.Count(s.Nodes-s.Switches, "adapter"))
	}
	others := make([]string, 0, len(all)-1)
	for _, s := range all[1:] {
		others = append(others, fmt.Sprintf("%s (-s '%s@%s')", sizes(s), fabric.Escape(source),
			places.PortRef(f, s.Seat)))
	}
	return fmt.Sprintf("the file contains %d separate subnets; this one has %s, and these are not counted: %s",
		len(all), sizes(all[0]), prose.List(others, maxSubnets))
}
