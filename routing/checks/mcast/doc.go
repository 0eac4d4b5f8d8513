// SPDX-License-Identifier: Apache-2.0

// Package mcast makes the forwarding tables of multicast groups as OpenSM does,
// follows their packets, and checks that every member gets each packet once.
package mcast
