// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"io"

	"example.org/ibconsole/fabric/formats/osm"
)

// Config is a torus-2QoS.conf.
type Config = osm.TorusConf

// Seed is a switch of a configuration from which the torus is found.
type Seed = osm.TorusSeed

// Link is the way from a seed along one dimension.
type Link = osm.TorusLink

// Note is what was read oddly in a configuration.
type Note = osm.FileNote

// WriteConfig writes a configuration for OpenSM.
func WriteConfig(w io.Writer, c *Config) error { return osm.WriteTorusConf(w, c) }
