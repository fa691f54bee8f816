/** A 3-D scene that dragging, the wheel and keys turn, and that is rendered only after a change. */

import { Color, PerspectiveCamera, Scene, Spherical, type Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** Step of a key: an angle in radians, and a factor of distance. */
const TURN = Math.PI / 24;
const STEP = 1.15;
/** Frame times in milliseconds: above SLOW an animation is drawn with fewer pixels, below FAST with more again. */
const SLOW = 50;
const FAST = 25;
const COARSEST = 0.5;

export interface Reach {
  near: number;
  far: number;
  from: [x: number, y: number, z: number];
  /** Radius around the middle that initially fills the height; by default the angle of the view is 42 degrees. */
  fills?: number;
}

/** A point on the canvas, in pixels. */
export interface Point {
  x: number;
  y: number;
}

/** Maximum distance in pixels between the pointer and the object that it selects. */
const NEAR = 14;

/** Vertical angle of a view in degrees. */
const ANGLE = 42;

export class Stage {
  readonly scene = new Scene();
  readonly camera: PerspectiveCamera;
  private readonly renderer: WebGLRenderer;
  private readonly controls: OrbitControls;
  private readonly watch: ResizeObserver;
  private readonly angle: number;
  /** Position of the pointer on the canvas. */
  private pointer: Point | undefined;
  private frame = 0;
  private isDirty = true;
  private last = 0;
  /** Mean duration of the last frames, in milliseconds. */
  private pace = 33;
  /** Resolution as a fraction of the screen's, in one dimension. */
  private coarseness = 1;

  /**
   * @param move called before each frame; returns whether anything moved
   * @throws {Error} if the browser has no WebGL
   */
  constructor(
    private readonly host: HTMLElement,
    { near, far, from, fills }: Reach,
    private readonly move: (wall: number) => boolean,
  ) {
    this.renderer = new WebGLRenderer({ antialias: !isSlow(), powerPreference: "low-power" });
    const canvas = this.renderer.domElement;
    host.prepend(canvas);
    this.angle =
      fills === undefined ? ANGLE : Math.min(ANGLE, (360 / Math.PI) * Math.asin(fills / Math.hypot(...from)));
    this.camera = new PerspectiveCamera(this.angle, 1, near / 20, far * 6);
    this.camera.position.set(...from);
    this.controls = new OrbitControls(this.camera, canvas);
    Object.assign(this.controls, { enablePan: false, minDistance: near, maxDistance: far, rotateSpeed: 0.6 });
    this.controls.addEventListener("change", () => this.paint());
    canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
      this.pointer = { x: offsetX, y: offsetY };
      this.paint();
    });
    canvas.addEventListener("pointerleave", () => {
      this.pointer = undefined;
      this.paint();
    });
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(host);
    this.resize();
    const step = (wall: number) => {
      this.frame = requestAnimationFrame(step);
      const isMoving = this.move(wall);
      if (isMoving) {
        this.adapt(wall - this.last);
      } else if (this.coarseness < 1) {
        this.coarseness = 1;
        this.resize();
      }
      this.last = wall;
      if (isMoving || this.isDirty) {
        this.isDirty = false;
        this.renderer.render(this.scene, this.camera);
      }
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Renders at the next frame. */
  paint(): void {
    this.isDirty = true;
  }

  ground(colour: string): void {
    this.scene.background = new Color(colour);
    this.paint();
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  /** Turns or zooms by a key. Returns false if the key has no meaning here. */
  key(key: string): boolean {
    const around = this.controls.target;
    const offset = new Spherical().setFromVector3(this.camera.position.clone().sub(around));
    const { minDistance, maxDistance } = this.controls;
    switch (key) {
      case "ArrowLeft":
        offset.theta -= TURN;
        break;
      case "ArrowRight":
        offset.theta += TURN;
        break;
      case "ArrowUp":
        offset.phi -= TURN;
        break;
      case "ArrowDown":
        offset.phi += TURN;
        break;
      case "+":
      case "=":
        offset.radius /= STEP;
        break;
      case "-":
        offset.radius *= STEP;
        break;
      default:
        return false;
    }
    offset.phi = Math.min(Math.PI - 0.05, Math.max(0.05, offset.phi));
    offset.radius = Math.min(maxDistance, Math.max(minDistance, offset.radius));
    this.camera.position.setFromSpherical(offset).add(around);
    this.controls.update();
    this.paint();
    return true;
  }

  /** Moves the camera to a position. */
  from(position: Vector3): void {
    this.camera.position.copy(position);
    this.controls.update();
    this.paint();
  }

  /** Returns the position of a point on the canvas, in pixels, and its depth: above 1 it is out of view. */
  project(point: Vector3): { x: number; y: number; depth: number } {
    const { x, y, z } = point.clone().project(this.camera);
    return { x: ((x + 1) / 2) * this.host.clientWidth, y: ((1 - y) / 2) * this.host.clientHeight, depth: z };
  }

  /**
   * Returns the index of the object under the pointer, if any. `seen` returns the position of each of `count` objects
   * on the canvas, if it is visible.
   */
  pointed(count: number, seen: (index: number) => Point | undefined): number | undefined {
    const { pointer } = this;
    let best: number | undefined;
    let least = NEAR;
    for (let index = 0; pointer && index < count; index++) {
      const point = seen(index);
      const distance = point ? Math.hypot(point.x - pointer.x, point.y - pointer.y) : NEAR;
      if (distance < least) {
        least = distance;
        best = index;
      }
    }
    return best;
  }

  /** Reduces the number of pixels during animations if rendering is slow. */
  private adapt(frame: number): void {
    this.pace += (Math.min(frame, 500) - this.pace) * 0.2;
    const next =
      this.pace > SLOW
        ? Math.max(COARSEST, this.coarseness * 0.8)
        : this.pace < FAST
          ? Math.min(1, this.coarseness * 1.1)
          : this.coarseness;
    if (isSlow() && next !== this.coarseness) {
      this.coarseness = next;
      this.resize();
    }
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.watch.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0 || clientHeight === 0) {
      return;
    }
    this.renderer.setPixelRatio(isSlow() ? this.coarseness : Math.min(2, devicePixelRatio));
    this.renderer.setSize(clientWidth, clientHeight);
    this.camera.aspect = clientWidth / clientHeight;
    // A narrow place shows as much as a wide one.
    this.camera.fov = this.angle * (clientWidth < clientHeight ? Math.min(1.9, clientHeight / clientWidth) : 1);
    this.camera.updateProjectionMatrix();
    this.paint();
  }
}

/** WebGL renderer of this machine: none, the CPU, which also has to run the simulation, or a GPU. */
let device: "none" | "processor" | "card" | undefined;

/** Returns true if the browser supports WebGL. */
export function hasWebGL(): boolean {
  device ??= found();
  return device !== "none";
}

/** Returns true if WebGL runs on the CPU, where fewer pixels are drawn. */
export function isSlow(): boolean {
  return hasWebGL() && device === "processor";
}

function found(): "none" | "processor" | "card" {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) {
    return "none";
  }
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name) ? "processor" : "card";
}
