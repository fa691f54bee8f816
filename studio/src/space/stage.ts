/** A place for things in three dimensions: turned by dragging, the wheel and keys, and painted only when something changed. */

import { Color, PerspectiveCamera, Scene, Spherical, type Vector3, WebGLRenderer } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** An angle, in radians, and a factor of distance that a key makes. */
const TURN = Math.PI / 24;
const STEP = 1.15;
/** Milliseconds of a frame above which a picture that moves is drawn with fewer pixels, and below which with more again. */
const SLOW = 50;
const FAST = 25;
const COARSEST = 0.5;

export interface Reach {
  near: number;
  far: number;
  from: [x: number, y: number, z: number];
  /** Radius around the middle that fills the height at first; by default the angle of the view is 42 degrees. */
  fills?: number;
}

/** Degrees of the height of a view. */
const ANGLE = 42;

export class Stage {
  readonly scene = new Scene();
  readonly camera: PerspectiveCamera;
  private readonly renderer: WebGLRenderer;
  private readonly controls: OrbitControls;
  private readonly watch: ResizeObserver;
  private readonly angle: number;
  private frame = 0;
  private isDirty = true;
  private last = 0;
  /** The mean of the last frames, in milliseconds. */
  private pace = 33;
  /** Pixels along a line, as a part of those that the screen has. */
  private coarseness = 1;

  /**
   * @param move is called before each frame and says whether anything moved
   * @throws {Error} where the browser has no WebGL
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

  /** Paints at the next frame. */
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

  /** Turns or comes closer by a key; says whether the key is one of those. */
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

  /** Looks from a place. */
  from(place: Vector3): void {
    this.camera.position.copy(place);
    this.controls.update();
    this.paint();
  }

  /** Where a point is on the canvas, in pixels, and how deep: beyond 1 it is behind the eye. */
  project(point: Vector3): { x: number; y: number; depth: number } {
    const { x, y, z } = point.clone().project(this.camera);
    return { x: ((x + 1) / 2) * this.host.clientWidth, y: ((1 - y) / 2) * this.host.clientHeight, depth: z };
  }

  /** A processor that draws slowly gets fewer pixels while something moves. */
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

/** What draws in three dimensions here: nothing, a processor that has other things to do, or a card made for it. */
let device: "none" | "processor" | "card" | undefined;

/** Whether the browser can draw in three dimensions. */
export function hasWebGL(): boolean {
  device ??= found();
  return device !== "none";
}

/** Whether pixels are dear, so that fewer are drawn. */
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
